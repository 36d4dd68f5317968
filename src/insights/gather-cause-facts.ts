import { storedAlerts } from '../alerts/alert-store.ts'
import { latestChangeOfIssue } from '../changes/store.ts'
import { CONSENT_KEY, type Finding } from '../compliance/compliance-finding.ts'
import { isConsentKnownBefore } from '../compliance/consent-store.ts'
import { openFindings } from '../compliance/store.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { FAILED_SQL } from '../core/event.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { googleTagManager } from '../decoders/google-tag-manager.ts'
import { explanationOf, isDomainFall } from '../issues/domain-drop-explanation.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { gapsBetween } from '../signals/gap-store.ts'
import type { Db } from '../store/database.ts'
import type { Dialect } from '../warehouse/dialect.ts'
import { type Query, query } from '../warehouse/query.ts'
import { type IssueFacts, TOGETHER_MS } from './determine-cause.ts'
import type { Sources } from './insight.ts'
import { maskFor } from './response-mask.ts'
import { cachePerOwner, isSimilarCount } from './ttl-cache.ts'

/** Maximum time between a collection gap and the start of an issue that the gap may have caused. */
const GAP_NEAR_MS = 15 * MINUTE_MS
/**
 * Length of the period before an issue in which events are counted. The period ends some time before the issue, because
 * the cause may have begun earlier.
 */
const BEFORE_MS = DAY_MS
const LEAD_MS = HOUR_MS
/** Minimum and maximum length of the period after the start of an issue in which events are counted. */
const SINCE_MS = { least: 15 * MINUTE_MS, most: HOUR_MS }
/** Maximum age of issues for which the history is read. The counts of older issues are unknown. */
const ASKED_MS = 14 * DAY_MS
/**
 * Maximum number of issues for which an explaining issue is looked up. There is a limit because each issue is compared
 * with all others in its domain. The most recent issues are used.
 */
const MOST_ASKED = 1000

type FactSources = Pick<Sources, 'db' | 'history' | 'domains' | 'privacy'>

/**
 * Returns facts about the start of each of these issues of one organization, in the same order. `counts`: `fresh` reads
 * the history; `kept` reuses earlier counts if few events have been added.
 */
export async function factsOf(
  sources: FactSources,
  orgId: string,
  issues: readonly IssueRecord[],
  now: Instant,
  counts: 'fresh' | 'kept' = 'fresh',
): Promise<IssueFacts[]> {
  const { db } = sources
  const asked = new Set(issues.toSorted((a, b) => b.firstSeenAt - a.firstSeenAt).slice(0, MOST_ASKED))
  const recent = [...asked]
    .filter(({ firstSeenAt }) => firstSeenAt > now - ASKED_MS)
    .map((issue) => stretchesOf(issue, now))
  const counted = await (counts === 'fresh'
    ? countsOf(sources, orgId, recent)
    : cachedCountsOf(sources, orgId, recent, now))
  const rules = new Map(
    storedAlerts(db, [...new Set(issues.map(({ alertId }) => alertId))]).map((one) => [one.id, one]),
  )
  const names = domainNames(sources, orgId)
  const consents = openFindings(db, orgId)
    .filter(({ key }) => key === CONSENT_KEY)
    .toSorted((a, b) => b.firstSeenAt - a.firstSeenAt)
  const masked = maskFor(sources)
  const factsOfOne = (issue: IssueRecord): IssueFacts => {
    const { id, domainId, firstSeenAt } = issue
    const rule = rules.get(issue.alertId)?.read() ?? null
    const ofType = rule?.alertType === issue.alertType ? rule : null
    const explanation = isDomainFall({ issue, rule: ofType })
      ? { issueId: id, title: issue.title }
      : asked.has(issue)
        ? explanationOf(db, { issue, rule: ofType })
        : null
    const change = latestChangeOfIssue(db, issue)
    const [gap = null] = gapsBetween(db, firstSeenAt - GAP_NEAR_MS, firstSeenAt + GAP_NEAR_MS)
    return {
      issue,
      domain: domainId === null ? null : masked(names.get(domainId) ?? ''),
      gap,
      traffic: explanation && { issueId: explanation.issueId, title: masked(explanation.title) },
      container: counted.get(id)?.container ?? null,
      consent: consents.find((one) => mayCause(db, one, issue)) ?? null,
      failures: counted.get(id)?.failures ?? null,
      change: change && { ...change, title: masked(change.title) },
    }
  }
  const facts: IssueFacts[] = []
  const yielder = new Yielder()
  for (const issue of issues) {
    if (yielder.isDue) await yielder.yieldNow()
    facts.push(factsOfOne(issue))
  }
  return facts
}

/**
 * Returns whether the consent finding began in the issue's domain in the 2 hours before the issue, and consent had
 * already been checked in that domain on an earlier day.
 */
function mayCause(db: Db, { domainIds, vendor, firstSeenAt }: Finding, { domainId, ...issue }: IssueRecord): boolean {
  const isBefore = firstSeenAt <= issue.firstSeenAt && firstSeenAt > issue.firstSeenAt - TOGETHER_MS
  if (!isBefore || domainId === null || !domainIds.includes(domainId)) return false
  return isConsentKnownBefore(db, { domainId, vendor }, firstSeenAt)
}

function domainNames({ db }: FactSources, orgId: string): Map<string, string> {
  const rows = db.prepare<[string], { id: string; name: string }>('SELECT id, name FROM domain WHERE orgId = ?')
  return new Map(rows.all(orgId).map(({ id, name }) => [id, name]))
}

/** An issue with the two periods to compare: before it began and since. */
interface Stretches {
  id: string
  domainId: string | null
  vendor: string | null
  before: Query['window']
  since: Query['window']
}

function stretchesOf({ id, domainId, firstSeenAt, evidence }: IssueRecord, now: Instant): Stretches {
  const to = Math.min(now, firstSeenAt + SINCE_MS.most)
  const from = Math.min(firstSeenAt, to - SINCE_MS.least)
  const before = { from: from - LEAD_MS - BEFORE_MS, to: from - LEAD_MS }
  return { id, domainId, vendor: evidence?.vendor ?? null, before, since: { from, to } }
}

const hoursOf = ({ from, to }: Query['window']) => (to - from) / HOUR_MS

function windowOf(issues: readonly Stretches[]): Query['window'] {
  const from = Math.min(...issues.map(({ before }) => before.from))
  return { from, to: Math.max(...issues.map(({ since }) => since.to)) }
}

/** Returns the periods as JSON for joining as the relation `own`: `before <= t < lead`, `since <= t < until`. */
const boundsOf = (issues: readonly Stretches[]) =>
  JSON.stringify(
    issues.map(({ id, domainId, vendor, before, since }) => ({
      id,
      ownDomain: domainId ?? '',
      ownVendor: vendor ?? '',
      beforeAt: before.from,
      leadAt: before.to,
      sinceAt: since.from,
      untilAt: since.to,
    })),
  )
const BOUNDS: Parameters<Dialect['rowsOfJson']>[1] = {
  id: 'text',
  ownDomain: 'text',
  ownVendor: 'text',
  beforeAt: 'integer',
  leadAt: 'integer',
  sinceAt: 'integer',
  untilAt: 'integer',
}

/** Event counts around the start of an issue. */
type Counts = Pick<IssueFacts, 'container' | 'failures'>

async function countsOf(
  sources: FactSources,
  orgId: string,
  issues: readonly Stretches[],
): Promise<Map<string, Counts>> {
  const [reports, failures] = await Promise.all([reportsOf(sources, orgId, issues), failuresOf(sources, orgId, issues)])
  return joined(issues, reports, failures)
}

type Failures = ReadonlyMap<string, IssueFacts['failures']>

const joined = (issues: readonly Stretches[], reports: Reports, failures: Failures): Map<string, Counts> =>
  new Map(
    issues.map(({ id }) => [id, { container: reports.get(id)?.container ?? null, failures: failures.get(id) ?? null }]),
  )

const cacheOf = cachePerOwner<{ failures: IssueFacts['failures']; vendorEvents: number }>(10_000)

/**
 * Returns the counts, using a cache for failures. Failures are read from events and cached for ten minutes, but in the
 * first hour of an issue only for the current minute. They are read again when the vendor has clearly more events in
 * the domain. Reports are always read from counts.
 */
async function cachedCountsOf(
  sources: FactSources,
  orgId: string,
  issues: readonly Stretches[],
  now: Instant,
): Promise<Map<string, Counts>> {
  const kept = cacheOf(sources.db)
  const reports = await reportsOf(sources, orgId, issues)
  const keyOf = ({ id, domainId, vendor, since: { from, to } }: Stretches) => {
    const minutes = [from, to].map((at) => Math.floor(at / MINUTE_MS))
    return [orgId, id, domainId, ...minutes, vendor].join(' ')
  }
  const failures = new Map<string, IssueFacts['failures']>()
  const moved = issues.filter((one) => {
    const [known, vendorEvents] = [kept.get(keyOf(one), now), reports.get(one.id)?.vendorEvents]
    if (!known || vendorEvents === undefined || !isSimilarCount(known.vendorEvents, vendorEvents)) return true
    failures.set(one.id, known.failures)
    return false
  })
  const found = await failuresOf(sources, orgId, moved)
  for (const one of moved) {
    const [own, vendorEvents] = [found.get(one.id) ?? null, reports.get(one.id)?.vendorEvents]
    failures.set(one.id, own)
    if (vendorEvents !== undefined) kept.set(keyOf(one), { failures: own, vendorEvents }, now)
  }
  return joined(issues, reports, failures)
}

/**
 * Tag manager counts by issue. `vendorEvents`: number of events of the issue's vendor in its domain, in both periods.
 */
type Reports = ReadonlyMap<string, { container: IssueFacts['container']; vendorEvents: number }>

/** Returns the rates of tag manager reports and other events in each issue's domain. */
async function reportsOf({ history }: FactSources, orgId: string, issues: readonly Stretches[]): Promise<Reports> {
  const own = issues.filter(({ domainId }) => domainId !== null)
  if (own.length === 0) return new Map()
  const rows = await history.query<
    Record<'reportsBefore' | 'reportsSince' | 'allBefore' | 'allSince' | 'vendorEvents', number> & { id: string }
  >(reportsQuery(orgId, own))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    own.flatMap(({ id, before, since }) => {
      const row = byId.get(id)
      if (!row) return []
      const rates = (ofBefore: number, ofSince: number) => ({
        before: ofBefore / hoursOf(before),
        since: ofSince / hoursOf(since),
      })
      const reports = rates(row.reportsBefore, row.reportsSince)
      const others = rates(row.allBefore - row.reportsBefore, row.allSince - row.reportsSince)
      const container = { reports, others, reported: row.reportsBefore }
      return [[id, { container, vendorEvents: row.vendorEvents }]]
    }),
  )
}

function reportsQuery(orgId: string, issues: readonly Stretches[]): Query {
  return query('insights.tag-manager-reports', {
    over: 'counts' as const,
    orgId,
    window: windowOf(issues),
    write(binder) {
      const own = binder.dialect.rowsOfJson(binder.bind(boundsOf(issues)), BOUNDS)
      const manager = binder.bind(googleTagManager.vendor)
      const sum = (test: string) => `sum(CASE WHEN ${test} THEN weight ELSE 0 END)`
      const [isBefore, isSince] = ['minute < leadAt', 'minute >= sinceAt']
      return {
        sql: `SELECT id, ${sum(isBefore)} AS allBefore, ${sum(isSince)} AS allSince,
            ${sum(`${isBefore} AND vendor = ${manager}`)} AS reportsBefore,
            ${sum(`${isSince} AND vendor = ${manager}`)} AS reportsSince,
            ${sum('vendor = ownVendor')} AS vendorEvents
          FROM counts JOIN ${own} AS own ON own.ownDomain = domainId
          WHERE minute >= beforeAt AND minute < untilAt AND (${isBefore} OR ${isSince}) GROUP BY id`,
      }
    },
  })
}

/** Returns the share of failed requests for the vendor of each issue, over all domains. */
async function failuresOf(
  { history }: FactSources,
  orgId: string,
  issues: readonly Stretches[],
): Promise<Map<string, IssueFacts['failures']>> {
  const own = issues.filter(({ vendor }) => vendor !== null)
  if (own.length === 0) return new Map()
  const rows = await history.query<
    Record<'allBefore' | 'allSince' | 'failedBefore' | 'failedSince', number> & { id: string }
  >(failuresQuery(orgId, own))
  const share = (failed: number, known: number) => (known > 0 ? failed / known : 0)
  return new Map(
    rows.map(({ id, ...row }) => [
      id,
      { before: share(row.failedBefore, row.allBefore), since: share(row.failedSince, row.allSince) },
    ]),
  )
}

function failuresQuery(orgId: string, issues: readonly Stretches[]): Query {
  return query('insights.vendor-failures', {
    orgId,
    window: windowOf(issues),
    write(binder) {
      const own = binder.dialect.rowsOfJson(binder.bind(boundsOf(issues)), BOUNDS)
      const vendors = [...new Set(issues.flatMap(({ vendor }) => vendor ?? []))]
      const sum = (test: string) => `sum(CASE WHEN ${test} THEN weight ELSE 0 END)`
      const [isBefore, isSince] = ['receivedAt < leadAt', 'receivedAt >= sinceAt']
      return {
        where: [...binder.among('vendor', vendors), 'status IS NOT NULL', `kind <> 'library'`].join(' AND '),
        sql: `SELECT own.id AS id, ${sum(isBefore)} AS allBefore, ${sum(isSince)} AS allSince,
            ${sum(`${isBefore} AND ${FAILED_SQL}`)} AS failedBefore, ${sum(`${isSince} AND ${FAILED_SQL}`)} AS failedSince
          FROM events JOIN ${own} AS own ON own.ownVendor = vendor
          WHERE receivedAt >= beforeAt AND receivedAt < untilAt AND (${isBefore} OR ${isSince}) GROUP BY own.id`,
      }
    },
  })
}
