import { ConditionSchema } from '../conditions/condition.ts'
import { Closed, Int, Nullable, type Static, Text, Type } from '../core/schema.ts'

/** What an expectation says of the events themselves; an audit's says the same of a page. */
export const expectedEventFields = {
  label: Type.Optional(Text(1, 80, { description: 'A label that the event must have; no event has an unknown one' })),
  vendor: Type.Optional(Text(1, 200, { description: 'The vendor, as in `docs/api/vendors.md`; left out: every one' })),
  event: Type.Optional(Text(1, 200, { description: 'The event’s name; left out: every one', examples: ['purchase'] })),
  account: Type.Optional(Text(1, 200, { description: 'The vendor’s account; left out: every one' })),
  data: Type.Optional(
    Type.Array(ConditionSchema, {
      maxItems: 20,
      description: 'How the event must be: all of these hold. They say what is right, as in journeys',
    }),
  ),
  min: Type.Optional(Int({ minimum: 0, maximum: 10_000, default: 1, description: 'At least so many such events' })),
  max: Type.Optional(
    Nullable(
      Int({ minimum: 0, maximum: 10_000, description: 'At most so many; 0: it must not fire, `min` is 0 then' }),
    ),
  ),
}

export const ExpectationSchema = Closed({
  step: Type.Optional(
    Int({
      minimum: 0,
      maximum: 199,
      description: 'Index in `recording.steps`: from its start to that of the next one. Left out: the whole run',
    }),
  ),
  ...expectedEventFields,
  withinMs: Type.Optional(
    Int({
      minimum: 0,
      maximum: 60_000,
      default: 5000,
      description: 'The runner waits so long after the step until `min` is met; `max` is judged at the end',
    }),
  ),
})
export type Expectation = Static<typeof ExpectationSchema>
