import { ConditionGroupSchema, ConditionSchema, ConditionSetSchema } from '../conditions/condition.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { ALERT_EXAMPLES } from './examples.ts'
import { JourneySpecSchema } from './types/journey/spec.ts'

export const ALERT_TYPES = [
  'data_validation',
  'tag_volume_change',
  'volume_threshold',
  'volume_anomaly',
  'journey',
] as const
export type AlertKind = (typeof ALERT_TYPES)[number]

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export const CHANNEL_TYPES = ['email', 'team_chat', 'office_chat', 'webhook', 'issue_tracker'] as const

export const ChannelSchema = Closed(
  {
    type: OneOf(CHANNEL_TYPES, {
      description: 'How to tell. `email` and `webhook` are available in this version',
      examples: ['email', 'webhook'],
    }),
    target: Text(1, 2000, {
      description:
        'For `email`: an address, several with commas between, or `owners` for whoever owns the organization when it is sent. For `webhook`: an https address',
      examples: ['ann@example.com, ben@example.com', 'owners', 'https://hooks.example.com/tags'],
    }),
  },
  {
    $id: 'Channel',
    description: 'Where an alert tells of its issues',
    examples: [{ type: 'email', target: 'ann@example.com' }],
  },
)
export type Channel = Static<typeof ChannelSchema>

const event = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The event whose count is meant; left out or empty: all events in scope',
    examples: ['purchase'],
  }),
)

/** The three shapes of `volume`; which one fits is the alert type's to say. */
export const PercentageChangeSchema = Closed(
  {
    direction: OneOf(['increase', 'decrease'], { description: 'Which way is wrong', examples: ['decrease'] }),
    percent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 10_000,
      description: 'By how many per cent of the window before, at least',
      examples: [50],
    }),
    event,
  },
  {
    description: 'For `tag_volume_change`: the count against that of the period before',
    examples: [{ direction: 'decrease', percent: 50, event: 'purchase' }],
  },
)
export const CountThresholdSchema = Closed(
  {
    op: OneOf(['lte', 'gte'], {
      description: 'Fires when the count is this much or less (`lte`), or this much or more (`gte`)',
      examples: ['lte'],
    }),
    count: Int({ minimum: 0, maximum: 100_000_000, description: 'Events in one period', examples: [20] }),
    event,
  },
  {
    description: 'For `volume_threshold`: the count against a fixed number',
    examples: [{ op: 'lte', count: 20, event: 'purchase' }],
  },
)
export const AnomalySchema = Closed(
  {
    vendor: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The vendor whose events are followed. `*`: each event of each vendor, by itself',
      examples: ['Google Analytics 4', '*'],
    }),
    event,
    sensitivity: Type.Optional(
      Type.Number({
        minimum: 2,
        maximum: 8,
        default: 4,
        description: 'Robust standard deviations from what is expected: 2 is the most sensitive, 8 the least',
        examples: [5],
      }),
    ),
  },
  {
    description: 'For `volume_anomaly`: the count against what its own past makes likely',
    examples: [{ vendor: 'Google Analytics 4', event: 'page_view', sensitivity: 5 }],
  },
)

const RunWindowsSchema = Closed(
  {
    hours: Type.Optional(
      Type.Array(Int({ minimum: 0, maximum: 23, description: 'An hour of the day in `timezone`', examples: [8] }), {
        minItems: 2,
        maxItems: 2,
        description: 'From, and up to but without; may wrap midnight, equal ends mean all day',
        examples: [[8, 20]],
      }),
    ),
    days: Type.Optional(
      Type.Array(Int({ minimum: 0, maximum: 6, description: 'A day of the week, 0 is Sunday', examples: [1] }), {
        maxItems: 7,
        description: '0 is Sunday; none: every day',
        examples: [[1, 2, 3, 4, 5]],
      }),
    ),
  },
  {
    description: 'When it may open issues and tell people; left out: always. Outside, violations still count',
    examples: [{ hours: [8, 20], days: [1, 2, 3, 4, 5] }],
  },
)

const ThrottleSchema = Closed(
  {
    count: Int({ minimum: 1, maximum: 1000, description: 'So many messages', examples: [1] }),
    per: Int({ minimum: 1, maximum: 10_080, description: 'in so many', examples: [4] }),
    unit: OneOf(['minutes', 'hours'], { description: 'of these', examples: ['hours'] }),
  },
  {
    description:
      'At most so many messages in a time, whatever the number of channels; others wait or are counted in the next',
    examples: [{ count: 1, per: 4, unit: 'hours' }],
  },
)

const DOMAIN_ID = 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta'

const channels = Type.Array(ChannelSchema, {
  minItems: 1,
  maxItems: 10,
  description: 'Who is told, and how',
  examples: [[{ type: 'email', target: 'owners' }]],
})

const inputFields = {
  name: Text(1, 200, {
    description: 'Heads every message about it; say what is wrong',
    examples: ['Purchase without transaction id'],
  }),
  domainId: Type.Optional(Type.String({ description: 'A property that it watches', examples: [DOMAIN_ID] })),
  domainIds: Type.Optional(
    Type.Array(Type.String({ description: 'Id of a property', examples: [DOMAIN_ID] }), {
      maxItems: 100,
      description: 'Properties that it watches, beside `domainId`; neither: all of the organization',
      examples: [[DOMAIN_ID]],
    }),
  ),
  alertType: OneOf(ALERT_TYPES, {
    description:
      '`data_validation`: single events by `conditions`. `volume_threshold`, `tag_volume_change`, `volume_anomaly`: counts, by `volume`. `journey`: sessions, by `journey`',
    examples: ['data_validation'],
  }),
  severity: Type.Optional(
    OneOf(SEVERITIES, { default: 'low', description: 'How grave its issues are; sorts them', examples: ['high'] }),
  ),
  vendors: Type.Optional(
    Type.Array(
      Type.String({ maxLength: 200, description: 'A vendor, as in `docs/vendors.md`', examples: ['Meta Pixel'] }),
      {
        maxItems: 100,
        description:
          'Only events of these vendors are looked at; none: all. Without effect on a journey, and not for `volume_anomaly`',
        examples: [['Google Analytics 4', 'Meta Pixel']],
      },
    ),
  ),
  conditions: Type.Optional(ConditionSetSchema),
  filters: Type.Optional(
    Type.Array(ConditionSchema, {
      maxItems: 50,
      description:
        'Which events are looked at: those for which all of these hold. For a journey: sessions with such an event',
      examples: [[{ parameter: '$event', op: 'equals', values: ['purchase'] }]],
    }),
  ),
  conditionGroups: Type.Optional(
    Type.Array(ConditionGroupSchema, {
      maxItems: 20,
      description: 'More conditions in brackets: an event breaks the rule when `conditions` and each group hold',
      examples: [[{ op: 'any', items: [{ parameter: 'cu', op: 'not_equals', values: ['EUR'] }] }]],
    }),
  ),
  period: Type.String({
    minLength: 1,
    maxLength: 20,
    description:
      'How long the windows are that it judges: a whole number and m, h, d or w, from 1m to 4w; or hourly, daily, weekly. Counts are judged when a window ended; a violation shows within seconds',
    examples: ['1h', 'daily'],
  }),
  timezone: Type.Optional(
    Type.String({
      maxLength: 50,
      default: 'UTC',
      description: 'Where days and weeks begin, and of `runWindows`: a name of the IANA database, or an offset',
      examples: ['Europe/Berlin'],
    }),
  ),
  runWindows: Type.Optional(RunWindowsSchema),
  journey: Type.Optional(JourneySpecSchema),
  volume: Type.Optional(
    Type.Union([PercentageChangeSchema, CountThresholdSchema, AnomalySchema], {
      description:
        'Which count is wrong: `direction` and `percent` for `tag_volume_change`, `op` and `count` for `volume_threshold`, `vendor` for `volume_anomaly`. No other type takes it',
      examples: [{ op: 'lte', count: 20, event: 'purchase' }],
    }),
  ),
  throttle: Type.Optional(ThrottleSchema),
  channels,
  impactValue: Type.Optional(
    Int({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'What an issue of it may cost, in a unit of your own; is shown with the issue',
      examples: [900],
    }),
  ),
  enabled: Type.Optional(
    Type.Boolean({ default: true, description: 'False: it judges nothing and tells nobody', examples: [true] }),
  ),
}

export const AlertInputSchema = Closed(inputFields, {
  $id: 'AlertInput',
  description: 'An alert as it is made; `docs/alerts.md` has the language and ten of them',
  examples: ALERT_EXAMPLES,
})
/** As it comes in. */
export type AlertInput = Static<typeof AlertInputSchema>

/** As it is kept: defaults filled in. Which domains it watches is asked of `domainsOf`. */
export interface Alert extends AlertInput {
  id: string
  orgId: string
  severity: Severity
  timezone: string
  enabled: boolean
  createdAt: Instant
  updatedAt: Instant
}

export const AlertSchema = Closed(
  {
    ...inputFields,
    channels: Type.Optional(
      Type.Array(ChannelSchema, {
        maxItems: 10,
        description: 'Left out for viewers: targets are addresses of people, and some are secrets',
        examples: [[{ type: 'email', target: 'owners' }]],
      }),
    ),
    id: Type.String({ description: 'Of the alert', examples: ['alr_01ke7jpe008wq2m5x0t4c9r7hv'] }),
    orgId: Type.String({ description: 'Of its organization', examples: ['org_01ke7jhv00p5s9c2g4w8e6m1xr'] }),
    createdAt: InstantSchema,
    updatedAt: InstantSchema,
  },
  {
    $id: 'Alert',
    description: 'An alert as it is kept: defaults are filled in',
    examples: [
      {
        ...ALERT_EXAMPLES[0],
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

/** Every domain the alert watches; empty means all of its organization's. */
export function domainsOf(alert: Pick<AlertInput, 'domainId' | 'domainIds'>): string[] {
  return [...new Set([...(alert.domainId ? [alert.domainId] : []), ...(alert.domainIds ?? [])])]
}
