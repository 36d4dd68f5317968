import { optional, text } from '../../address/fields.ts'

/** Search parameters of the findings. */
export const COMPLIANCE = {
  domainId: text,
  vendor: text,
  action: optional(['watch', 'file', 'ignore']),
}
