import { ConditionGroupSchema, ConditionSchema, ConditionSetSchema } from '../conditions/condition.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** The wire name of an alert type: one of `ALERT_KINDS`. */
export type AlertKind = string

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export const CHANNEL_TYPES = ['email', 'team_chat', 'office_chat', 'webhook', 'issue_tracker'] as const

export const ChannelSchema = Closed(
  {
    type: OneOf(CHANNEL_TYPES, {
      description: '`team_chat`: Slack, `office_chat`: Microsoft Teams, `issue_tracker`: Jira',
      examples: ['email', 'webhook'],
    }),
    target: Text(1, 2000, {
      description:
        'For `email`: comma-separated addresses, or `owners` of the organization. For others: the id of an integration, or a URL: an incoming webhook of Slack, a Teams workflow, a webhook. URLs are stored sealed',
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

/** The fields that alerts of every type have in requests. `AlertInputSchema` adds the types' own fields. */
export const sharedFields = {
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
  alertType: Type.String(),
  severity: Type.Optional(
    OneOf(SEVERITIES, { default: 'low', description: 'How grave its issues are; sorts them', examples: ['high'] }),
  ),
  vendors: Type.Optional(
    Type.Array(
      Type.String({ maxLength: 200, description: 'A vendor, as in `docs/api/vendors.md`', examples: ['Meta Pixel'] }),
      {
        maxItems: 100,
        description: 'Only events of these vendors are looked at; none: all',
        examples: [['Google Analytics 4', 'Meta Pixel']],
      },
    ),
  ),
  conditions: Type.Optional(ConditionSetSchema),
  filters: Type.Optional(
    Type.Array(ConditionSchema, {
      maxItems: 50,
      description: 'Which events are looked at: those for which all of these hold',
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

const SharedObject = Type.Object(sharedFields)

/**
 * An alert in a request. The configuration of its type is in the type's own field (`Configuration`), which only the
 * type reads.
 */
export interface AlertInput extends Static<typeof SharedObject> {
  [field: string]: unknown
}

/** A stored alert: defaults are filled in. `domainsOf` returns which domains it watches. */
export interface Alert extends AlertInput {
  id: string
  orgId: string
  severity: Severity
  timezone: string
  enabled: boolean
  createdAt: Instant
  updatedAt: Instant
}

/** Returns every domain the alert watches; an empty list means all domains of its organization. */
export function domainsOf(alert: Pick<AlertInput, 'domainId' | 'domainIds'>): string[] {
  return [...new Set([...(alert.domainId ? [alert.domainId] : []), ...(alert.domainIds ?? [])])]
}
