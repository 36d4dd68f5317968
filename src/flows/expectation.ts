import { ConditionSchema } from '../conditions/condition.ts'
import { Closed, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'

/** Fields that describe an expected event, shared with the expectations of audits. */
export const expectedEventFields = {
  label: Type.Optional(
    Text(1, 80, { description: 'A label that the event must have; events never have an unknown label' }),
  ),
  vendor: Type.Optional(Text(1, 200, { description: 'The vendor, as in `docs/api/vendors.md`; default: any' })),
  event: Type.Optional(Text(1, 200, { description: 'Name of the event; default: any', examples: ['purchase'] })),
  account: Type.Optional(Text(1, 200, { description: 'Account at the vendor; default: any' })),
  data: Type.Optional(
    Type.Array(ConditionSchema, {
      maxItems: 20,
      description: 'Conditions that the event must meet, all of them. As in journeys, they describe a correct event',
    }),
  ),
  min: Type.Optional(Int({ minimum: 0, maximum: 10_000, default: 1, description: 'Minimum number of such events' })),
  max: Type.Optional(
    Nullable(
      Int({
        minimum: 0,
        maximum: 10_000,
        description: 'Maximum number of such events. 0: it must not fire, and `min` is 0',
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
        'Index in `recording.steps`: from the start of this step to the start of the next one. Default: the whole run',
    }),
  ),
  ...expectedEventFields,
  withinMs: Type.Optional(
    Int({
      minimum: 0,
      maximum: 60_000,
      default: 5000,
      description:
        'How long the runner waits after the step for `min` to be met, in milliseconds; `max` is judged at the end',
    }),
  ),
})
export type Expectation = Static<typeof ExpectationSchema>
