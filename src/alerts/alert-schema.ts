import { MAX_CHANNELS } from '../contract/limits.ts'
import { Closed, InstantSchema, OneOf, type TSchema, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'
import { ChannelSchema, sharedFields } from './alert.ts'
import { configurationFields } from './type-specific-fields.ts'
import { describeJudgedData } from './types/describe-alert-types.ts'
import { ALERT_KINDS, alertTypes } from './types/index.ts'

/** Returns the fields with the alert types' notes appended to their descriptions. */
function noted<Fields extends Record<string, TSchema>>(fields: Fields): Fields {
  const withNotes = Object.entries(fields).map(([field, schema]) => {
    const notes = alertTypes.flatMap(({ form: { notes } }) => notes[field] ?? [])
    return [field, notes.length === 0 ? schema : { ...schema, description: [schema.description, ...notes].join('. ') }]
  })
  return Object.fromEntries(withNotes)
}

const { throttle, channels, escalation, impactValue, enabled, ...before } = noted(sharedFields)

const inputFields = {
  ...before,
  alertType: OneOf(ALERT_KINDS, { description: describeJudgedData(), examples: ALERT_KINDS.slice(0, 1) }),
  // Typed as empty, because the field names are defined only by the alert types.
  ...(configurationFields as Record<never, TSchema>),
  throttle,
  channels,
  escalation,
  impactValue,
  enabled,
}

const examples = alertTypes.map(({ form }) => form.example)

export const AlertInputSchema = Closed(inputFields, {
  $id: 'AlertInput',
  description: 'Configuration of an alert; `/docs/use/alerts` describes the rule language and has ten examples',
  examples,
})

export const AlertSchema = Closed(
  {
    ...inputFields,
    channels: Type.Array(ChannelSchema, {
      maxItems: MAX_CHANNELS,
      description:
        'Targets are masked for viewers and read-only keys. Sending a masked target in a PUT keeps the stored target',
      examples: [[{ type: 'email', target: 'owners' }]],
    }),
    id: Type.String({ description: 'Id of the alert', examples: ['alr_01ke7jpe008wq2m5x0t4c9r7hv'] }),
    orgId: Type.String({
      description: 'Id of the organization that the alert belongs to',
      examples: ['org_01ke7jhv00p5s9c2g4w8e6m1xr'],
    }),
    lateShare: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Share of the total cost of all rules. Present only if the rule is too expensive to evaluate on arrival: a separate process then evaluates its events, which appear some seconds later',
        examples: [0.93],
      }),
    ),
    createdAt: InstantSchema,
    updatedAt: InstantSchema,
    managedBy: managedByField(),
  },
  {
    $id: 'Alert',
    description: 'A stored alert, with defaults filled in',
    examples: [
      {
        ...examples[0],
        timezone: 'UTC',
        enabled: true,
        id: 'alr_01ke7jpe008wq2m5x0t4c9r7hv',
        orgId: 'org_01ke7jhv00p5s9c2g4w8e6m1xr',
        createdAt: 1_767_614_400_000,
        updatedAt: 1_767_614_400_000,
      },
    ],
  },
)
