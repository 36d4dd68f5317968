import { optional, text } from '../../address/fields.ts'

/** What the address of the changes may say. */
export const CHANGES = {
  domainId: text,
  status: optional(['watching', 'regressed', 'clean', 'unclear']),
}
