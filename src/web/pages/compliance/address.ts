import { optional, text } from '../../address/fields.ts'

/** What the address of the findings may say. */
export const COMPLIANCE = {
  domainId: text,
  vendor: text,
  action: optional(['watch', 'file', 'ignore']),
}
