import { names, optional, text } from '../../address/fields.ts'

/** Search parameters of the alert list. Types come from the server, so any text is accepted. */
export const ALERTS = {
  q: text,
  enabled: optional(['true', 'false']),
  alertType: names,
  domainId: names,
}

/** Search parameters of a new alert: the current domain and event, the parameter that must not be blank, and the template. */
export const NEW_ALERT = { domainId: text, vendor: text, event: text, parameter: text, template: text }
