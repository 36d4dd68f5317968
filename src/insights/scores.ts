import type { Alert } from '../alerts/alert.ts'
import { storedAlerts } from '../alerts/alert-store.ts'
import { openFindings } from '../compliance/store.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { FAILED_SQL } from '../core/event.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import { cutText } from '../core/text.ts'
import { coveredMs, mergeGaps } from '../signals/gap.ts'
import { gapsBetween } from '../signals/gap-store.ts'
import type { Db } from '../store/database.ts'
import { type Query, query } from '../warehouse/query.ts'
import { insight, type Sources } from './insight.ts'
import { domainFields, domainsNamed } from './query-params.ts'
import { maskFor } from './response-mask.ts'
import { accuracyOf, availabilityOf, complianceOf, type DomainHealth, scoreOf } from './score-formulas.ts'
import { signalsAt } from './signals-at-instant.ts'
import { cachePerOwner, isSimilarCount } from './ttl-cache.ts'

const ScorePartSchema = Closed({
  score: Int({ minimum: 0, maximum: 100 }),
  detail: Type.String({ description: 'Up to three main causes, in one sentence' }),
})

export const ScoresSchema = Closed(
  {
    overall: Int({ minimum: 0, maximum: 100, description: 'Mean of the three scores' }),
    availability: ScorePartSchema,
    accuracy: ScorePartSchema,
    compliance: ScorePartSchema,
  },
  {
    $id: 'Scores',
    examples: [
      {
        overall: 88,
        availability: { score: 94, detail: 'Meta Pixel Purchase is silent on Shop.' },
        accuracy: {
          score: 86,
          detail: '7.5 % of Google Analytics 4 purchase events on Shop violate "Purchases have a value".',
        },
        compliance: { score: 85, detail: 'email in dl of Google Analytics 4 on Shop.' },
      },
    ],
  },
)

/** Scores of an organization: availability of tags, accuracy of data, and compliance. */
export const scores = insight({
  id: 'getScores',
  summary: 'Show the scores of the last 24 hours: availability, accuracy and compliance',
  description:
    'Each score is from 0 to 100, for all domains, those of a project, or one: the average of the mean of all domains and the worst domain. ' +
    '`/docs/use/scores` lists the formulas. Domains that never sent an event are excluded.',
  path: '/insights/scores',
  isQuick: true,
  refusals: ['notFound', 'unavailable'],
  input: Closed(domainFields),
  output: ScoresSchema,
  async answer(sources, asked, { principal: { orgId }, now }) {
    const domainIds = domainsNamed(sources, orgId, asked)
    const from = Math.floor((now - DAY_MS) / MINUTE_MS) * MINUTE_MS
    return scoresOf(await healthIn(sources, orgId, { domainIds, from, to: now + 1, time: '24 hours' }, now))
  },
})

/** Returns the scores for facts about domains in a period. */
export function scoresOf(domains: readonly DomainHealth[]): Static<typeof ScoresSchema> {
  const parts = {
    availability:
      domains.length > 0
        ? scoreOf(domains.map(availabilityOf), 'All tags work as usual.')
        : { score: 0, detail: 'No event was received in the last 24 hours.' },
    accuracy: scoreOf(domains.map(accuracyOf), 'No event broke a rule.'),
    compliance: scoreOf(domains.map(complianceOf), 'There are no open findings.'),
  }
  const sum = Object.values(parts).reduce((sum, { score }) => sum + score, 0)
  return { overall: Math.round(sum / 3), ...parts }
}

interface Domain {
  id: string
  name: string
}

/** A period and the domains to score. */
export interface HealthScope {
  /** Null for all domains. */
  domainIds: readonly string[] | null
  /** Start of the period, at the start of a minute. */
  from: Instant
  to: Instant
  /** Name of the period: `24 hours` or `the week`. */
  time: string
}

/** Returns the domains that existed at the end of the period and have ever sent an event. */
function domainsOf(db: Db, orgId: string, { domainIds, to }: HealthScope): Domain[] {
  return db
    .prepare<[object], Domain>(
      `SELECT id, name FROM domain WHERE orgId = @orgId AND lastEventAt IS NOT NULL AND createdAt < @to
         AND (@domainIds IS NULL OR id IN (SELECT value FROM json_each(@domainIds))) ORDER BY id`,
    )
    .all({ orgId, to, domainIds: domainIds && JSON.stringify(domainIds) })
}

const MAX_NAME_LENGTH = 80

/**
 * Returns facts about each domain that has ever sent an event: its signals at the end of the period, and its findings
 * from the period, without those ignored now.
 */
export async function healthIn(
  sources: Sources,
  orgId: string,
  scope: HealthScope,
  now: Instant,
): Promise<DomainHealth[]> {
  const { db, history, seriesMonitor, watermark } = sources
  const domains = domainsOf(db, orgId, scope)
  if (domains.length === 0) return []
  const ids = domains.map(({ id }) => id)
  const window = { from: scope.from, to: scope.to }
  const known = Math.min(scope.to, watermark())
  const [{ statuses, broken, totals }, signals] = await Promise.all([
    historyFactsOf({ db, history }, orgId, ids, window, now),
    signalsAt({ db, seriesMonitor, watermark, now }, orgId, domains, known),
  ])
  const past = { from: window.from, to: Math.min(window.to, now) }
  const gapShare = coveredMs(mergeGaps(gapsBetween(db, past.from, past.to)), past) / (past.to - past.from)
  const rules = enabledRules(db, [...new Set(broken.map(({ alertId }) => alertId))])
  const totalOf = new Map(totals.map((row) => [keyOf(row), row.weight]))
  const masked = maskOf(sources)
  const findings = openFindings(db, orgId).filter(
    ({ firstSeenAt, lastSeenAt }) => lastSeenAt >= window.from && firstSeenAt < window.to,
  )
  return domains.map(({ id, name }) => {
    const isOwn = ({ domainId }: { domainId: string }) => domainId === id
    return {
      name: masked(name),
      time: scope.time,
      hasEvents: totals.some((row) => isOwn(row) && row.weight > 0),
      signals: signals
        .filter(({ row }) => isOwn(row))
        .map(({ row }) => ({ ...row, vendor: masked(row.vendor), event: masked(row.event) })),
      vendors: statuses.filter(isOwn).map((row) => ({ ...row, vendor: masked(row.vendor) })),
      rules: broken.filter(isOwn).flatMap((row) => {
        const rule = rules.get(row.alertId)
        if (!rule) return []
        const { severity } = rule
        const total = totalOf.get(keyOf(row)) ?? row.weight
        const names = { alert: masked(rule.name), vendor: masked(row.vendor), event: masked(row.event) }
        return [{ ...names, severity, violating: row.weight, total }]
      }),
      findings: findings.filter(({ domainIds }) => domainIds.includes(id)),
      gapShare,
    }
  })
}

/** Facts about domains in a period, read from the event history. */
interface HistoryFacts {
  statuses: StatusRow[]
  broken: BrokenRow[]
  totals: TotalRow[]
}

const cacheOf = cachePerOwner<HistoryFacts>(100)

/**
 * Reads facts from the history. Statuses and broken rules are read from a day of events, totals from counts. Statuses
 * and broken rules are cached for the current minute, unless the frequency of an event clearly changes.
 */
async function historyFactsOf(
  { db, history }: Pick<Sources, 'db' | 'history'>,
  orgId: string,
  ids: readonly string[],
  window: Query['window'],
  now: Instant,
): Promise<HistoryFacts> {
  const kept = cacheOf(db)
  const minutes = [window.from, window.to, now].map((at) => Math.floor(at / MINUTE_MS))
  const key = `${orgId} ${minutes.join(' ')} ${Bun.hash(ids.join())}`
  const known = kept.get(key, now)
  const askTotals = history.query<TotalRow>(namedTotalsQuery(orgId, ids, window))
  if (known && areAlike(known.totals, await askTotals)) return { ...known, totals: await askTotals }
  const [statuses, broken, totals] = await Promise.all([
    history.query<StatusRow>(statusesQuery(orgId, ids, window)),
    history.query<BrokenRow>(brokenRulesQuery(orgId, ids, window)),
    askTotals,
  ])
  const told = { statuses, broken, totals }
  kept.set(key, told, now)
  return told
}

function areAlike(before: readonly TotalRow[], now: readonly TotalRow[]): boolean {
  const known = new Map(before.map((row) => [keyOf(row), row.weight]))
  return known.size === now.length && now.every((row) => isSimilarCount(known.get(keyOf(row)) ?? 0, row.weight))
}

function enabledRules(db: Db, ids: readonly string[]): Map<string, Alert> {
  const rules = storedAlerts(db, ids).map(({ read }) => read())
  return new Map(rules.flatMap((rule) => (rule.enabled ? [[rule.id, rule] as const] : [])))
}

/** Returns a function that masks and truncates a name for use in a sentence. */
function maskOf(sources: Sources): (name: string) => string {
  const mask = maskFor(sources)
  return (name) => cutText(mask(name), MAX_NAME_LENGTH, '…')
}

interface Named {
  domainId: string
  vendor: string
  event: string
}

const keyOf = ({ domainId, vendor, event }: Named) => `${domainId}\0${vendor}\0${event}`

type StatusRow = Omit<Named, 'event'> & { known: number; failed: number }
type BrokenRow = Named & { alertId: string; weight: number }
type TotalRow = Named & { weight: number }

/** Returns the query for the weights of requests with a known status, and of failed requests, by vendor. */
export function statusesQuery(orgId: string, domainIds: readonly string[], window: Query['window']): Query {
  return query('insights.statuses', {
    orgId,
    window,
    write: (binder) => ({
      sql: `SELECT domainId, vendor, sum(weight) AS known,
          sum(CASE WHEN ${FAILED_SQL} THEN weight ELSE 0 END) AS failed
        FROM events WHERE ${binder.among('domainId', domainIds).join('')} AND kind <> 'library' AND status IS NOT NULL
        GROUP BY ALL`,
    }),
  })
}

/** Returns the query for the weights of events that break a rule, by the rule's alert. */
export function brokenRulesQuery(orgId: string, domainIds: readonly string[], window: Query['window']): Query {
  return query('insights.broken-rules', {
    orgId,
    window,
    write: (binder) => ({
      sql: `SELECT domainId, vendor, event, alertId, sum(weight) AS weight FROM (
          SELECT domainId, vendor, event, weight, unnest(violations) AS alertId
          FROM events WHERE ${binder.among('domainId', domainIds).join('')} AND violated AND kind <> 'library'
        ) GROUP BY ALL`,
    }),
  })
}

/** Returns the query for the weights of all events, by name. */
export function namedTotalsQuery(orgId: string, domainIds: readonly string[], window: Query['window']): Query {
  return query('insights.totals', {
    over: 'counts' as const,
    orgId,
    window,
    write: (binder) => ({
      sql: `SELECT domainId, vendor, event, sum(weight) AS weight
        FROM counts WHERE ${binder.among('domainId', domainIds).join('')} GROUP BY ALL`,
    }),
  })
}
