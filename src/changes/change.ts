import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { CHANGE_STATUSES } from '../contract/statuses.ts'
import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { Closed, InstantInput, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

const HARMFUL_KINDS = [
  ...(['event_lost', 'event_fell', 'event_doubled', 'key_lost', 'key_type'] as const),
  ...(['failures_rose', 'violations_rose', 'consent_fell'] as const),
] as const
const HARMLESS_KINDS = ['event_new', 'event_rose', 'key_new'] as const
const EFFECT_KINDS = [...HARMFUL_KINDS, ...HARMLESS_KINDS] as const
export type EffectKind = (typeof EFFECT_KINDS)[number]

export const isHarmful = (kind: EffectKind): boolean => (HARMFUL_KINDS as readonly string[]).includes(kind)

/** A difference between the events before and after a change. */
const EffectSchema = Closed({
  kind: OneOf(EFFECT_KINDS),
  harmful: Type.Boolean(),
  vendor: Type.String(),
  event: Type.String({ description: 'Empty when the effect concerns all events of a vendor' }),
  key: Nullable(Type.String()),
  before: Type.Number({
    description:
      'For keys, the share of events that have the key (for `key_type`, the share of values with the former type). For rates, the ' +
      'rate, 0 to 1. For events, the expected number',
  }),
  after: Type.Number({ description: 'Like `before`; for events, the observed number' }),
  effect: Type.Number({ minimum: 0, maximum: 1, description: 'Size of the difference, up to 1 for a complete loss' }),
  detail: Type.String({ description: 'Description of the effect in one sentence' }),
})
export type Effect = Static<typeof EffectSchema>

/** Maximum number of effects in a verdict. */
export const MAX_EFFECTS = 100

const VerdictSchema = Closed({
  items: Type.Array(EffectSchema, { maxItems: MAX_EFFECTS, description: 'Sorted by effect, largest first' }),
  comparedEvents: Closed({ before: Int(), after: Int() }, { description: 'Weighted counts of production events' }),
})
export type Verdict = Static<typeof VerdictSchema>

export const NO_VERDICT: Verdict = { items: [], comparedEvents: { before: 0, after: 0 } }

/**
 * Minimum number of events on each side of the change, counted at the end of the window. With fewer events the verdict
 * is `unclear`.
 */
export const ENOUGH_EVENTS = 50

const MIN_WINDOW_MINUTES = 5
const MAX_WINDOW_MINUTES = 10_080
export const DEFAULT_WINDOW_MINUTES = 60
/** Maximum time by which `occurredAt` may be ahead of the server's clock. */
export const MAX_AHEAD_MS = 5 * MINUTE_MS

export const ChangeInputSchema = Closed(
  {
    domainId: Text(1, 100),
    source: Text(1, 40, { description: 'Pipeline that reports the change: characters a–z, 0–9, `_` and `-`' }),
    ref: Text(1, 200, {
      description:
        'Identifier of the change in the pipeline. For a domain, the same source and ref always mean the same change',
    }),
    title: Text(1, 200),
    occurredAt: Type.Optional(
      InstantInput({
        minimum: 0,
        description: 'Default: now. Must be within the retention period of events and at most 5 minutes in the future',
      }),
    ),
    windowMinutes: Type.Optional(
      Int({
        minimum: MIN_WINDOW_MINUTES,
        maximum: MAX_WINDOW_MINUTES,
        default: DEFAULT_WINDOW_MINUTES,
        description: 'Length of the watch window',
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
    domain: Type.String({ description: 'Name of the domain' }),
    domainId: Type.String(),
    source: Type.String({
      description:
        'Name of the pipeline that reported the change, or `version`: a new version in the traffic; `library`: a vendor’s library loaded from a new URL; ' +
        '`tagwarden`: a setting of the domain changed in Tagwarden',
    }),
    ref: Type.String(),
    title: Type.String(),
    occurredAt: InstantSchema,
    windowMinutes: Int(),
    status: OneOf(CHANGE_STATUSES),
    findings: VerdictSchema,
    gateRun: Type.Optional(
      Closed(
        {
          id: Type.String(),
          status: OneOf(['passed', 'failed']),
          problems: Int(),
          createdAt: InstantSchema,
        },
        { description: 'Latest run of the release gate with the same commit or version' },
      ),
    ),
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
              detail:
                'Google Analytics 4 purchase has ep.transaction_id in 0 % of its events, compared with 100 % before.',
            },
          ],
          comparedEvents: { before: 4200, after: 4350 },
        },
      },
    ],
  },
)
export type Change = Static<typeof ChangeSchema>

/** The fields of a change that are shown with an issue or chart that the change may explain. */
export const ChangeNameSchema = Closed({ id: Type.String(), title: Type.String(), occurredAt: InstantSchema })
export type ChangeName = Static<typeof ChangeNameSchema>

/** Returns a change for display, with personal data in names masked. */
export function maskedChange(change: Change, privacy: Privacy): Change {
  const mask = (text: string) => maskPersonal(text, '', privacy)
  const items = change.findings.items.map((item) => ({
    ...item,
    vendor: mask(item.vendor),
    event: mask(item.event),
    detail: mask(item.detail),
    key: item.key === null ? null : mask(item.key),
  }))
  return {
    ...change,
    domain: mask(change.domain),
    ref: mask(change.ref),
    title: mask(change.title),
    findings: { ...change.findings, items },
  }
}

/** Returns change names with personal data masked. */
export function maskedNames(changes: readonly ChangeName[], privacy: Privacy): ChangeName[] {
  return changes.map((change) => ({ ...change, title: maskPersonal(change.title, '', privacy) }))
}

/** Sources of changes that Tagwarden detects itself. */
const OWN_SOURCES: ReadonlySet<string> = new Set(['version', 'library', 'tagwarden', 'tag_manager'])

/** Returns whether a pipeline or a person reported changes with this source. */
export const isReported = (source: string): boolean => !OWN_SOURCES.has(source)

/** Matches names of a release such as `41`, `v41`, `Release 41` and `release-41: checkout`. */
const RELEASE = /^(v|ver|version|rel|release|build)?[\s._#-]*(\d+(?:\.\d+)?)(?=$|[^\d.]|\.(?!\d))(.*)$/is

/** Returns whether a change's ref or title names this version. A number without a word must be the whole text. */
export function namesVersion({ ref, title }: Pick<NewChange, 'ref' | 'title'>, version: string): boolean {
  return [ref, title].some((text) => {
    const [, word, number = '', rest = ''] = RELEASE.exec(text.trim()) ?? []
    return number !== '' && Number(number) === Number(version) && (word !== undefined || rest === '')
  })
}

/** Input for recording a change. */
export interface NewChange {
  orgId: string
  domainId: string
  source: string
  ref: string
  title: string
  occurredAt: Instant
  windowMinutes?: number
}
