import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantInput, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'

/** Maximum number of orders per request. */
const MAX_ORDERS = 1000
/** Maximum time by which a shop's clock may be ahead of the server's. */
const MAX_AHEAD_MS = 5 * MINUTE_MS
/** Maximum value of an order. Larger amounts are implausible, and sums of them would not be accurate to the cent. */
const MAX_VALUE = 1e12

const OrderSchema = Closed({
  id: Text(1, 200, { description: 'The id exactly as sent by tags', examples: ['2026-1001'] }),
  at: InstantInput({
    description: 'Time of the order, in milliseconds since the Unix epoch, within the last 400 days',
  }),
  value: Type.Optional(
    Type.Number({
      minimum: -MAX_VALUE,
      maximum: MAX_VALUE,
      description: 'Value as sent by tags, in the same currency; when omitted, values of this order are not compared',
    }),
  ),
  currency: Type.Optional(Text(3, 3, { description: 'ISO 4217, for information only', examples: ['EUR'] })),
  status: Type.Optional(
    OneOf(['paid', 'cancelled'], {
      default: 'paid',
      description: 'Cancelled orders are not expected to reach any vendor',
    }),
  ),
})

/** An order as sent by a shop. */
export type Order = Static<typeof OrderSchema>

export const OrdersInputSchema = Closed(
  {
    domainId: Text(1, 100),
    orders: Type.Array(OrderSchema, { minItems: 1, maxItems: MAX_ORDERS }),
  },
  {
    $id: 'OrdersInput',
    examples: [
      {
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        orders: [{ id: '2026-1001', at: 1_767_614_400_000, value: 42.5, currency: 'EUR', status: 'paid' }],
      },
    ],
  },
)

export const OrdersAnswerSchema = Closed(
  { accepted: Int(), replaced: Int({ description: 'Number of accepted orders whose id already existed' }) },
  { $id: 'OrdersAnswer', examples: [{ accepted: 1, replaced: 0 }] },
)

/** Throws `invalid` for the first order that is in the future or older than the retention period. */
export function checkTimes(orders: readonly Order[], now: Instant): void {
  for (const [index, { at }] of orders.entries()) {
    if (at < now - RECORD_RETENTION_MS) {
      const days = RECORD_RETENTION_MS / DAY_MS
      throw new AppError(
        'invalid',
        `orders[${index}].at: must be within the last ${days} days, the retention period of orders`,
      )
    }
    if (at > now + MAX_AHEAD_MS) throw new AppError('invalid', `orders[${index}].at: must not be in the future`)
  }
}
