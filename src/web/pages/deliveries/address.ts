import { optional, text } from '../../address/fields.ts'

/** What the address of the deliveries may say. */
export const DELIVERIES = {
  status: optional(['pending', 'sending', 'delivered', 'failed', 'withdrawn']),
  issueId: text,
}
