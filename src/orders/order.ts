import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantInput, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'

/** The most orders of one call. */
const MAX_ORDERS = 1000
/** The clock of a shop may be ahead of ours by this much. */
const MAX_AHEAD_MS = 5 * MINUTE_MS
/** Amounts beyond it are no money, and their sums would lose cents. */
const MAX_VALUE = 1e12

const OrderSchema = Closed({
  id: Text(1, 200, { description: 'The id that tags send; exactly the same text', examples: ['2026-1001'] }),
  at: InstantInput({
    description: 'When it was placed: milliseconds since the Unix epoch, within the last 400 days',
  }),
  value: Type.Optional(
    Type.Number({
      minimum: -MAX_VALUE,
      maximum: MAX_VALUE,
      description: 'As tags send it, in the same currency; left out: values of this order are not compared',
    }),
  ),
  currency: Type.Optional(Text(3, 3, { description: 'ISO 4217; for the record only', examples: ['EUR'] })),
  status: Type.Optional(
    OneOf(['paid', 'cancelled'], { default: 'paid', description: 'Cancelled orders need not reach any vendor' }),
  ),
})

/** An order of a shop, as it is posted. */
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
  { accepted: Int(), replaced: Int({ description: 'Of the accepted ones, those whose id was known already' }) },
  { $id: 'OrdersAnswer', examples: [{ accepted: 1, replaced: 0 }] },
)

/** Fails with `invalid`, naming the first order whose time is not kept or has yet to come. */
export function checkTimes(orders: readonly Order[], now: Instant): void {
  for (const [index, { at }] of orders.entries()) {
    if (at < now - RECORD_RETENTION_MS) {
      const days = RECORD_RETENTION_MS / DAY_MS
      throw new AppError('invalid', `orders[${index}].at: is more than ${days} days ago; orders are kept no longer`)
    }
    if (at > now + MAX_AHEAD_MS) throw new AppError('invalid', `orders[${index}].at: lies in the future`)
  }
}
