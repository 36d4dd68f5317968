import { AlertInputSchema } from '../alerts/alert-schema.ts'
import { alertFrom, alertsOf } from '../alerts/alert-store.ts'
import { backtest } from '../alerts/backtest.ts'
import { dataValidation } from '../alerts/types/data-validation/data-validation.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { dayOf } from '../orders/order-reconciliation.ts'
import { idleAlerts } from './idle-alerts.ts'
import { insight, type Sources } from './insight.ts'
import { pairedNames } from './paired-events.ts'
import { keyFacts } from './parameter-key-facts.ts'
import { domainFields, domainsNamed, requestedDomains } from './query-params.ts'
import { eventsIn, RateSchema, rateOf } from './sample-estimates.ts'
import { brokenBy, type Draft, SUGGESTION_KINDS, suggest, suggestEventIds } from './suggest-rules.ts'

const DEFAULT_DAYS = 7
const MAX_DAYS = 30
const BACKTEST_DAYS = 7
const MAX_SUGGESTIONS = 50
/** Maximum number of rules backtested concurrently. */
const AT_ONCE = 2

const SuggestionSchema = Closed({
  kind: OneOf(SUGGESTION_KINDS),
  rule: Type.Unsafe<Draft['rule']>({ ...AlertInputSchema }),
  reason: Type.String({ description: 'Evidence from the traffic, in one sentence' }),
  basis: Closed({
    events: Int({
      description: 'Weighted number of events examined. If sessions were sampled, only theirs are counted',
    }),
    from: InstantSchema,
    to: InstantSchema,
  }),
  backtest: Closed({
    days: Int(),
    fired: Int({ description: 'Windows in which the alert would have fired' }),
    matched: Int({ description: 'Events that would have violated the rule' }),
  }),
})

const SuggestionListSchema = Closed(
  {
    sampledEvents: Int({ description: 'Number of stored events in the examined sessions, unweighted' }),
    sampling: RateSchema,
    suggestions: Type.Array(SuggestionSchema, {
      maxItems: MAX_SUGGESTIONS,
      description: 'Suggestions related to money first; at most five per event',
    }),
    idleAlerts: Type.Array(
      Closed({
        alertId: Type.String(),
        name: Type.String(),
        lastEventAt: Nullable(
          Type.Number({ ...InstantSchema, description: 'Minute of the most recent event; null if unknown' }),
        ),
      }),
      { description: 'Enabled alerts without events in their scope, by domain, vendor and event name' },
    ),
  },
  {
    $id: 'SuggestionList',
    examples: [
      {
        sampledEvents: 84_200,
        sampling: null,
        suggestions: [
          {
            kind: 'required_key',
            rule: {
              name: 'Google Analytics 4 purchase: ep.transaction_id is present',
              domainIds: ['dom_01ke7jm2q0d3k8f1z6y5b7n4ta'],
              alertType: dataValidation.kind,
              severity: 'high',
              vendors: ['Google Analytics 4'],
              filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
              conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
              period: '1h',
              channels: [{ type: 'email', target: 'owners' }],
            },
            reason: '4,210 of 4,210 Google Analytics 4 purchase events in the last 7 days had `ep.transaction_id`.',
            basis: { events: 4210, from: 1_767_009_600_000, to: 1_767_614_400_000 },
            backtest: { days: 7, fired: 0, matched: 0 },
          },
        ],
        idleAlerts: [{ alertId: 'alr_01ke7jpe008wq2m5x0t4c9r7hv', name: 'Refunds have a reason', lastEventAt: null }],
      },
    ],
  },
)

/** Suggested rules that the traffic already meets, and alerts whose events are no longer received. */
export const suggestions = insight({
  id: 'listSuggestions',
  summary: 'Suggest rules that the traffic already meets, each with a reason and a backtest',
  description:
    'For event names with at least 200 events: `required_key`, a key in 99.5 % of them; `key_type`, a required key that is a number in ' +
    '99.9 %; `key_values`, a required key with at most 20 values. Also the event id, if browsers and servers send a name and fewer than ' +
    '85 % of events have a partner with the same id. `rule` can be posted to `/v1/alerts` unchanged. Rules that an alert covers are ' +
    'omitted, see `/docs/use/suggestions`. Backtests are never sampled.',
  path: '/insights/suggestions',
  refusals: ['notFound', 'unavailable'],
  input: Closed({
    ...domainFields,
    days: Type.Optional(
      Int({ minimum: 1, maximum: MAX_DAYS, default: DEFAULT_DAYS, description: 'Number of days examined' }),
    ),
  }),
  output: SuggestionListSchema,
  exports: 'suggestions',
  async answer(sources, { days = DEFAULT_DAYS, ...asked }, { principal: { orgId }, now }) {
    const domainIds = requestedDomains(sources, orgId, asked).map(({ id }) => id)
    const { drafts, window, oneIn } = await draftsOf(sources, orgId, domainIds, { days, now })
    const [tried, idle, sampledEvents] = await Promise.all([
      tryAll(sources, orgId, drafts, { days, now, oneIn }),
      idleAlerts(sources, orgId, { domainIds: domainsNamed(sources, orgId, asked), days, now }),
      eventsIn(sources, { orgId, domainIds, window, oneIn }),
    ])
    return {
      sampledEvents,
      sampling: rateOf(oneIn),
      suggestions: drafts.map(({ kind, rule, reason, facts }, at) => ({
        kind,
        rule,
        reason,
        basis: { events: Math.round(facts.events), ...window },
        backtest: tried[at] ?? NEVER_BROKEN,
      })),
      idleAlerts: idle,
    }
  },
})

/**
 * Returns rules that the traffic of the last `days` met and that no alert covers, without a backtest. Also returns the
 * examined days as a window, and the sampling rate: one in `oneIn` sessions was examined.
 */
export async function draftsOf(
  sources: Pick<Sources, 'db' | 'history' | 'privacy' | 'maxEventsRead'>,
  orgId: string,
  domainIds: readonly string[],
  { days, now }: { days: number; now: Instant },
): Promise<{ drafts: Draft[]; window: { from: Instant; to: Instant }; oneIn: number }> {
  const window = { from: now + 1 - days * DAY_MS, to: now + 1 }
  const examined = domainIds.length > 0 ? await keyFacts(sources, orgId, domainIds, window) : { facts: [], oneIn: 1 }
  const { facts, oneIn } = examined
  const names = await pairedNames(sources, { orgId, domainIds, first: dayOf(window.from), now })
  const alerts = alertsOf(sources.db, orgId)
  const isOpen = isPlain(sources)
  const drafts = [
    ...suggestEventIds(names, alerts, days).filter((draft) => isOpen(draft.facts)),
    ...suggest(facts.filter(isOpen), alerts, { days, oneIn }),
  ]
  return { drafts: drafts.slice(0, MAX_SUGGESTIONS), window, oneIn }
}

/**
 * Returns a predicate that rejects keys with personal data in their name or a value, because a rule would contain that
 * data.
 */
function isPlain({ privacy }: Pick<Sources, 'privacy'>): (facts: Draft['facts']) => boolean {
  const own = privacy()
  const isOpen = (text: string, key = '') => maskPersonal(text, key, own) === text
  return ({ vendor, event, key, values }) =>
    [vendor, event, key].every((name) => isOpen(name)) && values.every(({ value }) => isOpen(value, key))
}

const NEVER_BROKEN: Tried = { days: BACKTEST_DAYS, fired: 0, matched: 0 }

/** The examined days, in which one in `oneIn` sessions was examined. */
interface TriedPeriod {
  days: number
  now: Instant
  oneIn: number
}

type Tried = Static<typeof SuggestionSchema>['backtest']

async function tryAll(
  sources: Sources,
  orgId: string,
  drafts: readonly Draft[],
  period: TriedPeriod,
): Promise<Tried[]> {
  const tried: Tried[] = []
  for (let at = 0; at < drafts.length; at += AT_ONCE) {
    tried.push(
      ...(await Promise.all(drafts.slice(at, at + AT_ONCE).map((draft) => tryOut(sources, orgId, draft, period)))),
    )
  }
  return tried
}

async function tryOut(
  { history, domains, privacy }: Sources,
  orgId: string,
  { kind, facts, rule }: Draft,
  { days, now, oneIn }: TriedPeriod,
): Promise<Tried> {
  // Most rules were never broken in these days, so a backtest cannot find violations unless sessions were left out.
  if (oneIn === 1 && days >= BACKTEST_DAYS && brokenBy(kind, facts) < 0.5) return NEVER_BROKEN
  const alert = alertFrom(rule, { id: 'alr_trial', orgId, createdAt: 0, updatedAt: 0 })
  const parts = { warehouse: history, domains: domains(), privacy: privacy() }
  const { buckets } = await backtest(alert, BACKTEST_DAYS, now, parts)
  return {
    days: BACKTEST_DAYS,
    fired: buckets.filter(({ wouldFire }) => wouldFire).length,
    matched: buckets.reduce((sum, { matchCount }) => sum + matchCount, 0),
  }
}
