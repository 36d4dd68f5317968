import { ConditionSchema } from '../../../conditions/condition.ts'
import { Closed, OneOf, parser, type Static, Text, Type } from '../../../core/schema.ts'

const vendor = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The vendor, as in `docs/api/vendors.md`; left out or empty: every one',
    examples: ['Google Analytics 4'],
  }),
)
const event = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The event’s name; left out or empty: every one',
    examples: ['purchase'],
  }),
)

const kindOf = <const Kind extends string>(kind: Kind, description: string) =>
  Type.Literal(kind, { description, examples: [kind] })

const AnchorSchema = Type.Union(
  [
    Closed({ kind: kindOf('session', 'The start of the session') }),
    Closed({
      kind: kindOf('page', 'The first event on a page'),
      path: Text(1, 500, { description: 'Path of the page, without host and query', examples: ['/checkout/thanks'] }),
      op: Type.Optional(
        OneOf(['equals', 'contains', 'starts_with'], {
          title: 'Comparison',
          description: 'How the path is compared; `equals` when left out',
          examples: ['starts_with'],
        }),
      ),
    }),
    Closed({
      kind: kindOf('label', 'The first event that has a label; an unknown label matches nothing'),
      label: Text(1, 80, { description: 'The label', examples: ['Checkout'] }),
    }),
    Closed({ kind: kindOf('event', 'The first event of this vendor and name'), vendor, event }),
  ],
  {
    title: 'Begins at',
    description: 'Where the step begins. A session that never comes there is not judged by this step',
    examples: [{ kind: 'page', path: '/checkout/thanks' }],
  },
)

const ExpectSchema = Closed(
  {
    label: Type.Optional(
      Type.String({
        maxLength: 80,
        description: 'A label that the event must have; no event has an unknown one',
        examples: ['Checkout'],
      }),
    ),
    vendor,
    event,
    ordered: Type.Optional(
      Type.Boolean({
        title: 'In this order',
        description: 'True: it must come behind the expectations before it. Left out: anywhere behind the anchor',
        examples: [true],
      }),
    ),
    data: Type.Optional(
      Type.Array(ConditionSchema, {
        title: 'Conditions',
        maxItems: 20,
        description:
          'How the event must be: all of these hold. Here, unlike in `conditions`, they say what is right; without `contains_phone`',
        examples: [[{ parameter: 'epn.value', op: 'gt', values: ['0'] }]],
      }),
    ),
  },
  {
    title: 'Expected event',
    description: 'An event that must come',
    examples: [{ vendor: 'Meta Pixel', event: 'Purchase' }],
  },
)

const StepSchema = Closed(
  {
    anchor: AnchorSchema,
    expect: Type.Array(ExpectSchema, {
      title: 'Expected events',
      maxItems: 20,
      description: 'What must come behind the anchor in the same session; each of them',
      examples: [[{ vendor: 'Meta Pixel', event: 'Purchase' }]],
    }),
  },
  {
    title: 'Step',
    description: 'A step of the journey',
    examples: [{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }],
  },
)

const SteppedSchema = Closed({
  version: Type.Literal(2, { description: 'Names this form', examples: [2] }),
  steps: Type.Array(StepSchema, {
    minItems: 1,
    maxItems: 10,
    description: 'In the order in which a session comes to them',
    examples: [[{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }]],
  }),
})

/** Without a version: a session that shows the last step must have shown all others, in order. */
const LegacySchema = Closed({
  steps: Type.Array(
    Closed({ vendor, event }, { title: 'Step', description: 'An event', examples: [{ event: 'add_to_cart' }] }),
    {
      minItems: 1,
      maxItems: 10,
      description: 'The form without a version: a session that shows the last one must have shown all others before',
      examples: [[{ event: 'add_to_cart' }, { event: 'purchase' }]],
    },
  ),
})

export const JourneySpecSchema = Type.Union([SteppedSchema, LegacySchema], {
  $id: 'JourneySpec',
  description: 'How a session must go, for the type `journey`. It fires for sessions that go otherwise',
  examples: [
    {
      version: 2,
      steps: [{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }],
    },
  ],
})

/** The field `journey` of an alert of type journey, in either form. */
export type JourneySpec = Static<typeof JourneySpecSchema>

const readStepped = parser(SteppedSchema)
const readLegacy = parser(LegacySchema)

/**
 * Returns the specification. Throws `AppError('invalid')` with paths under `path`, checked against the form that
 * `version` selects, so that the error is about that form.
 */
export function readSpec(value: unknown, path = 'journey'): JourneySpec {
  const isStepped = typeof value === 'object' && value !== null && 'version' in value
  return isStepped ? readStepped(value, path) : readLegacy(value, path)
}
