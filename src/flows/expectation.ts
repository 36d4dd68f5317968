import { ConditionSchema } from '../conditions/condition.ts'
import { Closed, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'

/** Fields that describe an expected event. Audits use the same fields. */
export const expectedEventFields = {
  label: Type.Optional(Text(1, 80, { description: 'Label that the event must have. No event has an unknown label' })),
  vendor: Type.Optional(Text(1, 200, { description: 'Vendor, as listed in `/docs/api/vendors`; default: any' })),
  event: Type.Optional(Text(1, 200, { description: 'Name of the event; default: any', examples: ['purchase'] })),
  account: Type.Optional(Text(1, 200, { description: 'Account at the vendor; default: any' })),
  data: Type.Optional(
    Type.Array(ConditionSchema, {
      maxItems: 20,
      description: 'Conditions that the event must all meet. As in journeys, they describe a correct event',
    }),
  ),
  min: Type.Optional(Int({ minimum: 0, maximum: 10_000, default: 1, description: 'Minimum number of such events' })),
  max: Type.Optional(
    Nullable(
      Int({
        minimum: 0,
        maximum: 10_000,
        description: 'Maximum number of such events; null: no limit. 0: the event must not fire, and `min` is 0',
      }),
    ),
  ),
}

export const ExpectationSchema = Closed({
  step: Type.Optional(
    Int({
      minimum: 0,
      maximum: 199,
      description:
        'Index in `recording.steps`, for the time from the start of this step to the start of the next one. Default: the whole run',
    }),
  ),
  ...expectedEventFields,
  withinMs: Type.Optional(
    Int({
      minimum: 0,
      maximum: 60_000,
      default: 5000,
      description:
        'How long the runner waits after the step for `min` to be met, in milliseconds; `max` is checked at the end',
    }),
  ),
})
export type Expectation = Static<typeof ExpectationSchema>
