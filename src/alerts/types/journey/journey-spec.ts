import { ConditionSchema } from '../../../conditions/condition.ts'
import { Closed, OneOf, parser, type Static, Text, Type } from '../../../core/schema.ts'

const vendor = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'Vendor, as listed in `/docs/api/vendors`. Any vendor if omitted or empty',
    examples: ['Google Analytics 4'],
  }),
)
const event = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'Name of the event. Any event if omitted or empty',
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
          description: 'Operator that compares the path; `equals` if omitted',
          examples: ['starts_with'],
        }),
      ),
    }),
    Closed({
      kind: kindOf('label', 'The first event with this label; an unknown label matches nothing'),
      label: Text(1, 80, { description: 'Name of the label', examples: ['Checkout'] }),
    }),
    Closed({ kind: kindOf('event', 'The first event of this vendor and name'), vendor, event }),
  ],
  {
    title: 'Begins at',
    description: 'Start of the step. Sessions that never reach it are not checked against this step',
    examples: [{ kind: 'page', path: '/checkout/thanks' }],
  },
)

const ExpectSchema = Closed(
  {
    label: Type.Optional(
      Type.String({
        maxLength: 80,
        description: 'Label that the event must have; an unknown label matches nothing',
        examples: ['Checkout'],
      }),
    ),
    vendor,
    event,
    ordered: Type.Optional(
      Type.Boolean({
        title: 'In this order',
        description:
          'If true, it must follow the preceding ordered events; otherwise, it can be anywhere after the anchor',
        examples: [true],
      }),
    ),
    data: Type.Optional(
      Type.Array(ConditionSchema, {
        title: 'Conditions',
        maxItems: 20,
        description:
          "Conditions that the event must match. Unlike the alert's `conditions`, they describe the correct event; `contains_phone` is not supported",
        examples: [[{ parameter: 'epn.value', op: 'gt', values: ['0'] }]],
      }),
    ),
  },
  {
    title: 'Expected event',
    description: 'An event that must occur',
    examples: [{ vendor: 'Meta Pixel', event: 'Purchase' }],
  },
)

const StepSchema = Closed(
  {
    anchor: AnchorSchema,
    expect: Type.Array(ExpectSchema, {
      title: 'Expected events',
      maxItems: 20,
      description: 'Events that must all occur after the anchor in the same session',
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
  version: Type.Literal(2, { description: 'Version of this form', examples: [2] }),
  steps: Type.Array(StepSchema, {
    minItems: 1,
    maxItems: 10,
    description: 'Steps, in the order in which a session reaches them',
    examples: [[{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }]],
  }),
})

/** The form without a version: in a session with the last step, all other steps must precede it, in order. */
const LegacySchema = Closed({
  steps: Type.Array(
    Closed({ vendor, event }, { title: 'Step', description: 'An event', examples: [{ event: 'add_to_cart' }] }),
    {
      minItems: 1,
      maxItems: 10,
      description:
        'Form without a version: a session with the last event must have all other events before it, in order',
      examples: [[{ event: 'add_to_cart' }, { event: 'purchase' }]],
    },
  ),
})

export const JourneySpecSchema = Type.Union([SteppedSchema, LegacySchema], {
  $id: 'JourneySpec',
  description: 'For `journey`: the steps that a session must follow. The alert fires for sessions that do not',
  examples: [
    {
      version: 2,
      steps: [{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }],
    },
  ],
})

/** The `journey` field of an alert of type journey, in either form. */
export type JourneySpec = Static<typeof JourneySpecSchema>

const readStepped = parser(SteppedSchema)
const readLegacy = parser(LegacySchema)

/**
 * Returns the specification. Throws `AppError('invalid')` with paths under `path`. The specification is validated
 * against the form that `version` selects, so that errors refer to that form.
 */
export function readSpec(value: unknown, path = 'journey'): JourneySpec {
  const isStepped = typeof value === 'object' && value !== null && 'version' in value
  return isStepped ? readStepped(value, path) : readLegacy(value, path)
}
