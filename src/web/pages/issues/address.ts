import { choice, names, several, text } from '../../address/fields.ts'
import { api } from '../../messages/api.ts'

const namesOf = <T extends string>(of: Readonly<Record<T, unknown>>) => Object.keys(of) as T[]

/** Sort orders of the list. */
export const SORTS = ['severity', 'lastSeenAt', 'firstSeenAt', 'impactValue', 'occurrences'] as const

/** Search parameters of the list of issues. */
export const ISSUES = {
  q: text,
  status: several(namesOf(api.statuses), ['open', 'acknowledged']),
  severity: several(namesOf(api.severities), []),
  domainId: names,
  alertType: several(namesOf(api.alertTypes), []),
  alertId: names,
  sort: choice(SORTS, 'severity'),
}
