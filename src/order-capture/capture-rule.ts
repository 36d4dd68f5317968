import { ChannelSchema } from '../alerts/alert.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

const MAX_RULES = 100
const MAX_SETTLING_MINUTES = 2880

const ID = 'ocr_01ke7k3h20x6b4n8r1t9v5c7zd'
const DOMAIN_ID = 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta'

const ruleFields = {
  domainId: Text(1, 100, { description: 'Domain to which the shop posts its orders', examples: [DOMAIN_ID] }),
  vendor: Text(1, 200, { description: 'Name of the vendor', examples: ['Google Analytics 4'] }),
  minCapturePct: Nullable(
    Type.Number({ minimum: 0, maximum: 100, description: 'Minimum percentage of orders that reach the vendor' }),
    {
      description:
        'Minimum percentage of orders that reach the vendor, in addition to the learned usual range; null: only the learned range applies',
    },
  ),
  maxDuplicates: Nullable(Int({ minimum: 0, maximum: 1_000_000 }), {
    description:
      'Number of repeated reports of the same order in 24 hours that is accepted even if it is unusual; null: duplicates are not checked',
  }),
  maxValueDeviationPct: Nullable(Type.Number({ minimum: 0, maximum: 1000 }), {
    description:
      'Maximum difference between the reported value and the value in the shop, in percent, of single orders and of all orders of 24 hours; null: 1 % for single orders, compared with the learned usual range',
  }),
  settlingMinutes: Int({
    minimum: 5,
    maximum: MAX_SETTLING_MINUTES,
    description: 'Time after an order within which its report must arrive, in minutes',
  }),
  channels: Type.Array(ChannelSchema, { maxItems: 10, description: 'Channels that receive notifications' }),
  enabled: Type.Boolean(),
}

const RuleSchema = Closed(
  { id: Type.String({ examples: [ID] }), ...ruleFields, managedBy: managedByField() },
  { $id: 'OrderCaptureRule' },
)
/** A rule as stored. */
export type CaptureRule = Static<typeof RuleSchema>

/** Values of the fields that a request omits. */
export const CAPTURE_RULE_DEFAULTS: Omit<CaptureRule, 'id' | 'domainId' | 'vendor' | 'managedBy'> = {
  minCapturePct: null,
  maxDuplicates: 0,
  maxValueDeviationPct: null,
  settlingMinutes: 60,
  channels: [{ type: 'email', target: 'owners' }],
  enabled: true,
}

const EXAMPLE: CaptureRule = {
  id: ID,
  domainId: DOMAIN_ID,
  vendor: 'Google Analytics 4',
  ...CAPTURE_RULE_DEFAULTS,
}

export const CaptureRulesSchema = Closed(
  { rules: Type.Array(RuleSchema, { maxItems: MAX_RULES }) },
  { $id: 'OrderCaptureRules', examples: [{ rules: [EXAMPLE] }] },
)

const { domainId, vendor, ...others } = ruleFields

const RuleInputSchema = Closed({
  id: Type.Optional(Text(1, 100, { description: 'Id of an existing rule; omit it for a new rule' })),
  domainId,
  vendor,
  minCapturePct: Type.Optional(others.minCapturePct),
  maxDuplicates: Type.Optional(others.maxDuplicates),
  maxValueDeviationPct: Type.Optional(others.maxValueDeviationPct),
  settlingMinutes: Type.Optional(others.settlingMinutes),
  channels: Type.Optional(others.channels),
  enabled: Type.Optional(others.enabled),
})
type RuleInput = Static<typeof RuleInputSchema>

export const CaptureRulesInputSchema = Closed(
  { rules: Type.Array(RuleInputSchema, { maxItems: MAX_RULES }) },
  {
    $id: 'OrderCaptureRulesInput',
    examples: [{ rules: [{ domainId: DOMAIN_ID, vendor: 'Google Analytics 4', settlingMinutes: 60 }] }],
  },
)

const CAPTURE_STATES = ['learning', 'normal', 'issue', 'off'] as const

const RangeSchema = Closed({ pct: Type.Number(), lowPct: Type.Number(), highPct: Type.Number() })

export const CaptureStatusSchema = Closed(
  {
    rules: Type.Array(
      Closed({
        id: Type.String(),
        state: OneOf(CAPTURE_STATES, {
          description:
            '`learning`: the usual range is not known yet; `issue`: the last evaluation found a problem; `off`: disabled',
        }),
        usual: Nullable(RangeSchema, {
          description:
            'Learned usual share of captured orders, and its range for a day; null while it is being learned',
        }),
        capturePct: Nullable(Type.Number(), {
          description: 'Share of captured orders in the last 24 hours of settled orders; null without orders',
        }),
        orders: Int({ description: 'Orders in these 24 hours' }),
        countedTo: Nullable(Int(), { description: 'Orders that settled before this are counted; null: none' }),
        issueIds: Type.Array(Type.String(), { description: 'Unresolved issues of the rule' }),
      }),
    ),
  },
  {
    $id: 'OrderCaptureStatus',
    examples: [
      {
        rules: [
          {
            id: ID,
            state: 'normal',
            usual: { pct: 88.1, lowPct: 84.9, highPct: 91.3 },
            capturePct: 87.4,
            orders: 412,
            countedTo: 1_767_614_400_000,
            issueIds: [],
          },
        ],
      },
    ],
  },
)
export type CaptureStatus = Static<typeof CaptureStatusSchema>['rules'][number]

/** Returns a rule with defaults. New rules have no id. */
export function withDefaults(input: RuleInput): Omit<CaptureRule, 'id'> & { id: string | null } {
  return { ...CAPTURE_RULE_DEFAULTS, ...input, id: input.id ?? null }
}

/**
 * Throws `invalid`, naming the field, for ids that do not exist, blank vendors, and two rules with the same domain and
 * vendor.
 */
export function checkRules(rules: readonly RuleInput[], known: ReadonlySet<string>): void {
  const ids = new Set<string>()
  const pairs = new Set<string>()
  for (const [index, { id, domainId, vendor }] of rules.entries()) {
    const at = `rules[${index}]`
    if (id !== undefined && !known.has(id)) throw new AppError('invalid', `${at}.id: no such rule`)
    if (id !== undefined && ids.has(id)) throw new AppError('invalid', `${at}.id: occurs more than once`)
    if (id !== undefined) ids.add(id)
    if (!vendor.trim()) throw new AppError('invalid', `${at}.vendor: must not be blank`)
    const pair = `${domainId}\n${vendor}`
    if (pairs.has(pair))
      throw new AppError('invalid', `${at}.vendor: there is already a rule for this domain and vendor`)
    pairs.add(pair)
  }
}
