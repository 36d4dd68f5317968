import { choice, names, several, text } from '../../address/fields.ts'
import { api } from '../../words/api.ts'

const namesOf = <T extends string>(of: Readonly<Record<T, unknown>>) => Object.keys(of) as T[]

/** What the address of the list of issues may say. */
export const ISSUES = {
  q: text,
  status: several(namesOf(api.statuses), ['open', 'acknowledged']),
  severity: several(namesOf(api.severities), []),
  alertType: several(namesOf(api.alertTypes), []),
  alertId: names,
  domainId: names,
  sort: choice(['severity', 'impactValue', 'lastSeenAt'], 'severity'),
}
