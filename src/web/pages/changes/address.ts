import { optional, text } from '../../address/fields.ts'

/** Search parameters of the list of changes. */
export const CHANGES = {
  domainId: text,
  status: optional(['watching', 'regressed', 'clean', 'unclear']),
}
