import { maskPersonal } from '../conditions/mask.ts'
import type { Privacy } from '../conditions/privacy.ts'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { Closed, InstantInput, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

/**
 * `watching`: its watch window runs, and nothing harmful is sure; `regressed`: something harmful is; `clean`: the window
 * ended without; `unclear`: it ended with too few events.
 */
export const CHANGE_STATUSES = ['watching', 'regressed', 'clean', 'unclear'] as const
export type ChangeStatus = (typeof CHANGE_STATUSES)[number]

const HARMFUL_KINDS = [
  ...(['event_lost', 'event_fell', 'event_doubled', 'key_lost', 'key_type'] as const),
  ...(['failures_rose', 'violations_rose', 'consent_fell'] as const),
] as const
const HARMLESS_KINDS = ['event_new', 'event_rose', 'key_new'] as const
const EFFECT_KINDS = [...HARMFUL_KINDS, ...HARMLESS_KINDS] as const
export type EffectKind = (typeof EFFECT_KINDS)[number]

export const isHarmful = (kind: EffectKind): boolean => (HARMFUL_KINDS as readonly string[]).includes(kind)

/** One difference between the events before and after a change. */
const EffectSchema = Closed({
  kind: OneOf(EFFECT_KINDS),
  harmful: Type.Boolean(),
  vendor: Type.String(),
  event: Type.String({ description: 'Empty where it is about a vendor as a whole' }),
  key: Nullable(Type.String()),
  before: Type.Number({
    description:
      'Of keys the share of events that have them (of `key_type`: the share of values of the former type), of rates the ' +
      'rate, 0 to 1; of events the number expected',
  }),
  after: Type.Number({ description: 'As `before`; of events the number seen' }),
  effect: Type.Number({ minimum: 0, maximum: 1, description: 'How much is different: 1 is all of it' }),
  detail: Type.String({ description: 'One sentence' }),
})
export type Effect = Static<typeof EffectSchema>

/** The most effects that a verdict names. */
export const MAX_EFFECTS = 100

const VerdictSchema = Closed({
  items: Type.Array(EffectSchema, { maxItems: MAX_EFFECTS, description: 'Most effect first' }),
  comparedEvents: Closed({ before: Int(), after: Int() }, { description: 'Weighted counts of production events' }),
})
export type Verdict = Static<typeof VerdictSchema>

export const NO_VERDICT: Verdict = { items: [], comparedEvents: { before: 0, after: 0 } }

/** Fewer events than this on either side at the end of the window: `unclear`. */
export const ENOUGH_EVENTS = 50

const MIN_WINDOW_MINUTES = 5
const MAX_WINDOW_MINUTES = 10_080
export const DEFAULT_WINDOW_MINUTES = 60
/** `occurredAt` may be this much ahead of the server's clock. */
export const MAX_AHEAD_MS = 5 * MINUTE_MS

export const ChangeInputSchema = Closed(
  {
    domainId: Text(1, 100),
    source: Text(1, 40, { description: 'Which pipeline tells: of a–z, 0–9, `_` and `-`' }),
    ref: Text(1, 200, { description: 'What it is called there; the same source and ref of a domain are one change' }),
    title: Text(1, 200),
    occurredAt: Type.Optional(
      InstantInput({ minimum: 0, description: 'Default now; not before events are kept, at most 5 minutes ahead' }),
    ),
    windowMinutes: Type.Optional(
      Int({
        minimum: MIN_WINDOW_MINUTES,
        maximum: MAX_WINDOW_MINUTES,
        default: DEFAULT_WINDOW_MINUTES,
        description: 'It is watched for this long',
      }),
    ),
  },
  {
    $id: 'ChangeInput',
    examples: [
      {
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        source: 'ci',
        ref: '8f2c1ab',
        title: 'Checkout: new summary page',
        windowMinutes: 60,
      },
    ],
  },
)
export type ChangeInput = Static<typeof ChangeInputSchema>

export const ChangeSchema = Closed(
  {
    id: Type.String(),
    domain: Type.String({ description: 'The name of the domain' }),
    domainId: Type.String(),
    source: Type.String({
      description:
        'As its pipeline said; `version`: a new version in traffic, `library`: a vendor’s library under a new address, ' +
        '`tagwarden`: a setting of the domain that somebody changed here',
    }),
    ref: Type.String(),
    title: Type.String(),
    occurredAt: InstantSchema,
    windowMinutes: Int(),
    status: OneOf(CHANGE_STATUSES),
    findings: VerdictSchema,
  },
  {
    $id: 'Change',
    examples: [
      {
        id: 'chg_01ke7jm2q0d3k8f1z6y5b7n4ta',
        domain: 'Shop',
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        source: 'ci',
        ref: '8f2c1ab',
        title: 'Checkout: new summary page',
        occurredAt: 1_767_614_400_000,
        windowMinutes: 60,
        status: 'regressed',
        findings: {
          items: [
            {
              kind: 'key_lost',
              harmful: true,
              vendor: 'Google Analytics 4',
              event: 'purchase',
              key: 'ep.transaction_id',
              before: 1,
              after: 0,
              effect: 1,
              detail: 'Google Analytics 4 purchase has ep.transaction_id in 0 % of its events, before in 100 %.',
            },
          ],
          comparedEvents: { before: 4200, after: 4350 },
        },
      },
    ],
  },
)
export type Change = Static<typeof ChangeSchema>

/** A change as others show it beside what it may explain. */
export const ChangeNameSchema = Closed({ id: Type.String(), title: Type.String(), occurredAt: InstantSchema })
export type ChangeName = Static<typeof ChangeNameSchema>

/** Returns a change as people see it: personal data in what others named is masked. */
export function maskedChange(change: Change, privacy: Privacy): Change {
  const mask = (text: string) => maskPersonal(text, '', privacy)
  const items = change.findings.items.map((item) => ({
    ...item,
    ...{ vendor: mask(item.vendor), event: mask(item.event), detail: mask(item.detail) },
    key: item.key === null ? null : mask(item.key),
  }))
  return {
    ...change,
    ...{ domain: mask(change.domain), ref: mask(change.ref), title: mask(change.title) },
    findings: { ...change.findings, items },
  }
}

/** Returns the names of changes with personal data masked. */
export function maskedNames(changes: readonly ChangeName[], privacy: Privacy): ChangeName[] {
  return changes.map((change) => ({ ...change, title: maskPersonal(change.title, '', privacy) }))
}

/** What is known of a change when it is noted. */
export interface NewChange {
  orgId: string
  domainId: string
  source: string
  ref: string
  title: string
  occurredAt: Instant
  windowMinutes?: number
}
