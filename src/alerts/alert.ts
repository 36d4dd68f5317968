import { ConditionGroupSchema, ConditionSchema, ConditionSetSchema } from '../conditions/condition.ts'
import { MAX_CHANNELS, MAX_CONDITION_GROUPS, MAX_THROTTLE } from '../contract/limits.ts'
import { CHANNEL_TARGETS, CHANNEL_TITLES, CHANNEL_TYPES } from '../contract/products.ts'
import { SEVERITIES, type Severity } from '../contract/severities.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** The wire name of an alert type: one of `ALERT_KINDS`. */
export type AlertKind = string

export const ChannelSchema = Closed(
  {
    type: OneOf(CHANNEL_TYPES, {
      description: CHANNEL_TYPES.map((type) => `\`${type}\`: ${CHANNEL_TITLES[type]}`).join(', '),
      examples: ['email', 'webhook'],
    }),
    target: Text(1, 2000, {
      description: `${CHANNEL_TYPES.map((type) => `\`${type}\`: ${CHANNEL_TARGETS[type]}`).join('. ')}. URLs are stored encrypted`,
      examples: ['ann@example.com, ben@example.com', 'owners', 'https://hooks.example.com/tags'],
    }),
  },
  {
    $id: 'Channel',
    description: 'A channel that an alert sends notifications to',
    examples: [{ type: 'email', target: 'ann@example.com' }],
  },
)
export type AlertChannel = Static<typeof ChannelSchema>

const MAX_ESCALATION_STEPS = 10
/** Maximum `afterMinutes`: one week. */
const MAX_ESCALATION_MINUTES = 10_080

const EscalationStepSchema = Closed(
  {
    afterMinutes: Int({
      minimum: 1,
      maximum: MAX_ESCALATION_MINUTES,
      description: 'Minutes after the notification of the opening; must increase from step to step',
      examples: [30],
    }),
    channels: Type.Array(ChannelSchema, {
      minItems: 1,
      maxItems: 10,
      description: 'Channels that are notified if nobody has acknowledged the issue by then',
      examples: [[{ type: 'email', target: 'owners' }]],
    }),
  },
  {
    $id: 'EscalationStep',
    description: 'A step of an escalation',
    examples: [{ afterMinutes: 30, channels: [{ type: 'email', target: 'owners' }] }],
  },
)
export type EscalationStep = Static<typeof EscalationStepSchema>

export const EscalationSchema = Closed(
  {
    steps: Type.Array(EscalationStepSchema, {
      maxItems: MAX_ESCALATION_STEPS,
      description: 'Steps in order of `afterMinutes`; empty: issues are never escalated',
      examples: [[{ afterMinutes: 30, channels: [{ type: 'email', target: 'owners' }] }]],
    }),
  },
  {
    $id: 'Escalation',
    description:
      "Channels that are notified one after another while nobody acknowledges an issue. An alert's own steps replace those of the organization; an alert without `escalation` uses the organization's",
    examples: [{ steps: [{ afterMinutes: 30, channels: [{ type: 'email', target: 'owners' }] }] }],
  },
)
export type Escalation = Static<typeof EscalationSchema>

const RunWindowsSchema = Closed(
  {
    hours: Type.Optional(
      Type.Array(Int({ minimum: 0, maximum: 23, description: 'Hour of the day in `timezone`', examples: [8] }), {
        minItems: 2,
        maxItems: 2,
        description:
          'First hour, and the hour at which the range ends; can span midnight. Equal values mean the whole day',
        examples: [[8, 20]],
      }),
    ),
    days: Type.Optional(
      Type.Array(Int({ minimum: 0, maximum: 6, description: 'Day of the week; 0 is Sunday', examples: [1] }), {
        maxItems: 7,
        description: 'Days of the week; 0 is Sunday. Empty: every day',
        examples: [[1, 2, 3, 4, 5]],
      }),
    ),
  },
  {
    description:
      'Times at which the alert opens issues and sends notifications; always if omitted. Violations at other times are still counted',
    examples: [{ hours: [8, 20], days: [1, 2, 3, 4, 5] }],
  },
)

const ThrottleSchema = Closed(
  {
    count: Int({ minimum: 1, maximum: MAX_THROTTLE.count, description: 'Maximum number of messages', examples: [1] }),
    per: Int({
      minimum: 1,
      maximum: MAX_THROTTLE.per,
      description: 'Length of the time span, in `unit`',
      examples: [4],
    }),
    unit: OneOf(['minutes', 'hours'], { description: 'Unit of `per`', examples: ['hours'] }),
  },
  {
    description:
      'Maximum number of messages in a time span, regardless of the number of channels. Excess messages are delayed or counted in the next one',
    examples: [{ count: 1, per: 4, unit: 'hours' }],
  },
)

const DOMAIN_ID = 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta'

const channels = Type.Array(ChannelSchema, {
  minItems: 1,
  maxItems: MAX_CHANNELS,
  description: 'Channels that receive notifications',
  examples: [[{ type: 'email', target: 'owners' }]],
})

/** The request fields common to all alert types. `AlertInputSchema` adds the type-specific fields. */
export const sharedFields = {
  name: Text(1, 200, {
    description: 'Name of the alert and title of its messages; should say what is wrong',
    examples: ['Purchase without transaction id'],
  }),
  domainId: Type.Optional(Type.String({ description: 'Domain that the alert watches', examples: [DOMAIN_ID] })),
  domainIds: Type.Optional(
    Type.Array(Type.String({ description: 'Id of a domain', examples: [DOMAIN_ID] }), {
      maxItems: 100,
      description:
        'Domains that the alert watches in addition to `domainId`. If neither is given: all domains of the organization',
      examples: [[DOMAIN_ID]],
    }),
  ),
  alertType: Type.String(),
  severity: Type.Optional(
    OneOf(SEVERITIES, {
      default: 'low',
      description: 'Severity of its issues, by which they are sorted',
      examples: ['high'],
    }),
  ),
  vendors: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: 200,
        description: 'Vendor name, as listed in `/docs/api/vendors`',
        examples: ['Meta Pixel'],
      }),
      {
        maxItems: 100,
        description: 'Vendors whose events are evaluated. Empty: all vendors',
        examples: [['Google Analytics 4', 'Meta Pixel']],
      },
    ),
  ),
  conditions: Type.Optional(ConditionSetSchema),
  filters: Type.Optional(
    Type.Array(ConditionSchema, {
      maxItems: 50,
      description: 'Selects the events to evaluate: those that match all of these conditions',
      examples: [[{ parameter: '$event', op: 'equals', values: ['purchase'] }]],
    }),
  ),
  conditionGroups: Type.Optional(
    Type.Array(ConditionGroupSchema, {
      maxItems: MAX_CONDITION_GROUPS,
      description:
        'Additional groups of conditions. An event breaks the rule if it matches `conditions` and every group',
      examples: [[{ op: 'any', items: [{ parameter: 'cu', op: 'not_equals', values: ['EUR'] }] }]],
    }),
  ),
  period: Type.String({
    minLength: 1,
    maxLength: 20,
    description:
      'Length of the evaluated windows: a whole number followed by m, h, d or w, from 1m to 4w; or hourly, daily or weekly. Counts are evaluated when a window ends; violations are reported within seconds',
    examples: ['1h', 'daily'],
  }),
  timezone: Type.Optional(
    Type.String({
      maxLength: 50,
      default: 'UTC',
      description: 'Time zone for `runWindows` and for the start of days and weeks: an IANA name or a UTC offset',
      examples: ['Europe/Berlin'],
    }),
  ),
  runWindows: Type.Optional(RunWindowsSchema),
  throttle: Type.Optional(ThrottleSchema),
  channels,
  escalation: Type.Optional(EscalationSchema),
  impactValue: Type.Optional(
    Int({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Estimated cost of one issue, in a unit of your choice; shown with the issue',
      examples: [900],
    }),
  ),
  enabled: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'If false, the alert is not evaluated and sends no notifications',
      examples: [true],
    }),
  ),
}

const SharedObject = Type.Object(sharedFields)

/**
 * An alert in a request. The type-specific configuration is in a separate field (`Configuration`) that only the type
 * reads.
 */
export interface AlertInput extends Static<typeof SharedObject> {
  [field: string]: unknown
}

/** A stored alert, with defaults filled in. Use `domainsOf` for the domains that it watches. */
export interface Alert extends AlertInput {
  id: string
  orgId: string
  severity: Severity
  timezone: string
  enabled: boolean
  createdAt: Instant
  updatedAt: Instant
}

/** Returns the ids of all domains that the alert watches. An empty list means all domains of its organization. */
export function domainsOf(alert: Pick<AlertInput, 'domainId' | 'domainIds'>): string[] {
  return [...new Set([...(alert.domainId ? [alert.domainId] : []), ...(alert.domainIds ?? [])])]
}
