import { optional, text } from '../../address/fields.ts'

/** Search parameters of the deliveries. */
export const DELIVERIES = {
  status: optional(['pending', 'sending', 'delivered', 'failed', 'withdrawn']),
  issueId: text,
}
