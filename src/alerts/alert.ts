import { ConditionGroupSchema, ConditionSchema, ConditionSetSchema } from '../conditions/condition.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'

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
  { type: OneOf(CHANNEL_TYPES), target: Text(1, 2000) },
  { $id: 'Channel', examples: [{ type: 'email', target: 'ann@example.com' }] },
)
export type Channel = Static<typeof ChannelSchema>

const event = Type.Optional(Type.String({ maxLength: 200 }))

/** The three shapes of `volume`; which one fits is the alert type's to say. */
export const PercentageChangeSchema = Closed({
  direction: OneOf(['increase', 'decrease']),
  percent: Type.Number({ exclusiveMinimum: 0, maximum: 10_000 }),
  event,
})
export const CountThresholdSchema = Closed({
  op: OneOf(['lte', 'gte']),
  count: Int({ minimum: 0, maximum: 100_000_000 }),
  event,
})
export const AnomalySchema = Closed({
  vendor: Type.String({ minLength: 1, maxLength: 200, description: '`*`: each event of each vendor, by itself' }),
  event,
  sensitivity: Type.Optional(
    Type.Number({
      minimum: 2,
      maximum: 8,
      default: 4,
      description: 'Robust standard deviations from what is expected: 2 is the most sensitive, 8 the least',
    }),
  ),
})

const vendor = Type.Optional(Type.String({ maxLength: 200 }))

const AnchorSchema = Type.Union([
  Closed({ kind: Type.Literal('session') }),
  Closed({
    kind: Type.Literal('page'),
    path: Text(1, 500),
    op: Type.Optional(OneOf(['equals', 'contains', 'starts_with'])),
  }),
  Closed({ kind: Type.Literal('label'), label: Text(1, 80) }),
  Closed({ kind: Type.Literal('event'), vendor, event }),
])

const ExpectSchema = Closed({
  label: Type.Optional(Type.String({ maxLength: 80 })),
  vendor,
  event,
  ordered: Type.Optional(Type.Boolean()),
  data: Type.Optional(Type.Array(ConditionSchema, { maxItems: 20 })),
})

export const JourneySpecSchema = Type.Union(
  [
    Closed({
      version: Type.Literal(2),
      steps: Type.Array(Closed({ anchor: AnchorSchema, expect: Type.Array(ExpectSchema, { maxItems: 20 }) }), {
        minItems: 1,
        maxItems: 10,
      }),
    }),
    Closed({ steps: Type.Array(Closed({ vendor, event }), { minItems: 1, maxItems: 10 }) }),
  ],
  {
    $id: 'JourneySpec',
    examples: [
      {
        version: 2,
        steps: [{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }],
      },
    ],
  },
)

const channels = Type.Array(ChannelSchema, { minItems: 1, maxItems: 10 })

const inputFields = {
  name: Text(1, 200),
  domainId: Type.Optional(Type.String()),
  domainIds: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  alertType: OneOf(ALERT_TYPES),
  severity: Type.Optional(OneOf(SEVERITIES, { default: 'low' })),
  vendors: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
  conditions: Type.Optional(ConditionSetSchema),
  filters: Type.Optional(Type.Array(ConditionSchema, { maxItems: 50 })),
  conditionGroups: Type.Optional(Type.Array(ConditionGroupSchema, { maxItems: 20 })),
  period: Type.String({
    minLength: 1,
    maxLength: 20,
    description: 'A whole number and m, h, d or w, from 1m to 4w; or hourly, daily, weekly',
  }),
  timezone: Type.Optional(Type.String({ maxLength: 50, default: 'UTC' })),
  runWindows: Type.Optional(
    Closed({
      hours: Type.Optional(
        Type.Array(Int({ minimum: 0, maximum: 23 }), {
          minItems: 2,
          maxItems: 2,
          description: 'From, and up to but without; may wrap midnight, equal ends mean all day',
        }),
      ),
      days: Type.Optional(
        Type.Array(Int({ minimum: 0, maximum: 6 }), { maxItems: 7, description: '0 is Sunday; none: every day' }),
      ),
    }),
  ),
  journey: Type.Optional(JourneySpecSchema),
  volume: Type.Optional(Type.Union([PercentageChangeSchema, CountThresholdSchema, AnomalySchema])),
  throttle: Type.Optional(
    Closed({
      count: Int({ minimum: 1, maximum: 1000 }),
      per: Int({ minimum: 1, maximum: 10_080 }),
      unit: OneOf(['minutes', 'hours']),
    }),
  ),
  channels,
  impactValue: Type.Optional(Int({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  enabled: Type.Optional(Type.Boolean({ default: true })),
}

const EXAMPLE = {
  name: 'Purchases have a value',
  domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
  alertType: 'data_validation',
  severity: 'high',
  vendors: ['Google Analytics 4'],
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
  period: '1h',
  throttle: { count: 1, per: 4, unit: 'hours' },
  channels: [{ type: 'email', target: 'ann@example.com' }],
  impactValue: 900,
}

export const AlertInputSchema = Closed(inputFields, { $id: 'AlertInput', examples: [EXAMPLE] })
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
      }),
    ),
    id: Type.String(),
    orgId: Type.String(),
    createdAt: InstantSchema,
    updatedAt: InstantSchema,
  },
  {
    $id: 'Alert',
    examples: [
      {
        ...EXAMPLE,
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
