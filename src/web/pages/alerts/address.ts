import { names, optional, text } from '../../address/fields.ts'

/** What the address of the list of alerts may say. Types are what the server knows, so that any text is taken. */
export const ALERTS = {
  q: text,
  enabled: optional(['true', 'false']),
  alertType: names,
  domainId: names,
}

/** What the address of a new alert may say: where one stood, the parameter that must not be blank, and what to begin with. */
export const NEW_ALERT = { domainId: text, vendor: text, event: text, parameter: text, template: text }
