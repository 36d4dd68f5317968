import { maskedChange } from '../changes/change.ts'
import { changesWatched } from '../changes/store.ts'
import { openFindings } from '../compliance/store.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { oneLine } from '../core/text.ts'
import { problemOf } from '../evidence/issue-problem.ts'
import { segmentsOfIssue } from '../evidence/issue-segments.ts'
import type { Caller, Sources } from '../insights/insight.ts'
import { reconciled, SETTLED_MS } from '../insights/reconcile-orders.ts'
import { type Mask, maskFor } from '../insights/response-mask.ts'
import { scores } from '../insights/scores.ts'
import { draftsOf } from '../insights/suggestions.ts'
import { lastWeek, reportOf, type WeeklyReport } from '../insights/weekly-report.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { countIssuesWithHistory, issuesWithHistory } from '../issues/issue-activity.ts'
import { issueKindOf } from '../issues/issue-kinds.ts'
import { issueValueOf } from '../issues/issue-value.ts'
import { unresolvedIssues } from '../issues/list-issues.ts'
import { listLabels } from '../labels/store.ts'
import { ordersSince } from '../orders/store.ts'
import { currencyOf, requireOrg, timezoneOf } from '../org/store.ts'
import { coveredMs, mergeGaps } from '../signals/gap.ts'
import { gapsBetween } from '../signals/gap-store.ts'
import {
  type DigestChange,
  type DigestFacts,
  type DigestIssue,
  type DigestOrders,
  SEVERITY_RANK,
} from './digest-facts.ts'
import { type DigestPeriod, digestPeriod } from './digest-schedule.ts'
import { type NameCount, type Traffic, trafficOf } from './event-traffic.ts'
import { newParameters } from './new-parameters.ts'
import type { Nameable } from './reader-focus.ts'
import { MAX_WORST } from './sections/last-week.ts'

const MAX_TEXT = 200
const SUGGESTION_DAYS = 7

/**
 * Gathers all facts for an organization's digest. Fails with `unavailable` if the event history is unavailable.
 * Expensive queries use `bounded` (the same sources with a time limit), and are omitted if they exceed the limit.
 * @param isWeekly Includes the report on the previous week.
 */
export async function gatherFacts(
  sources: Sources,
  bounded: Sources,
  caller: Caller,
  { isWeekly }: { isWeekly: boolean },
): Promise<DigestFacts> {
  const { db, history } = sources
  const { orgId } = caller.principal
  const at = caller.now
  const span = digestPeriod(at)
  const mask = textMask(maskFor(sources))
  const domains = domainsIn(sources, orgId, mask)
  const watched = sources.domains()
  const domainIds = watched.map(({ id }) => id)
  const leftOut: string[] = []
  const orNone = async <T>(what: string, work: Promise<T>, none: T): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error
      leftOut.push(what)
      return none
    }
  }
  // Traffic is required; without it no digest is composed.
  const traffic = maskedTraffic(await trafficOf(history, orgId, watched, span), mask)
  const [scored, parameters, orders, drafts, week] = await Promise.all([
    orNone('scores', scores.answer(bounded, {}, caller), null),
    orNone('new parameters', newParameters(bounded.history, orgId, span), []),
    orNone('orders', ordersOf(bounded, orgId, domains.names, span), []),
    orNone('suggestions', draftsOf(bounded, orgId, domainIds, { days: SUGGESTION_DAYS, now: at }), null),
    orNone('last week', isWeekly ? weekOf(bounded, orgId, at, mask) : Promise.resolve(null), null),
  ])
  const worst = week?.worst.slice(0, MAX_WORST) ?? []
  const affected = await orNone('who is affected', affectedBy(bounded, orgId, worst, at), new Map<string, string>())
  const issues = issuesOf(sources, orgId, domains.names, span, mask)
  return {
    at,
    span,
    traffic,
    issues,
    orders,
    week,
    affected,
    leftOut: leftOut.sort(),
    orgName: mask(requireOrg(db, orgId).name),
    currency: currencyOf(db, orgId),
    timezone: timezoneOf(db, orgId),
    domainNames: domains.names,
    newParameters: parameters.map((one) => ({
      ...one,
      vendor: mask(one.vendor),
      event: mask(one.event),
      key: mask(one.key),
    })),
    value: sumsOf(sources, orgId, issues, at),
    scores: scored && { overall: scored.overall, parts: PARTS.map((name) => ({ name, ...scored[name] })) },
    changes: changesOf(sources, orgId, span, mask),
    findings: findingsOf(sources, orgId, span),
    suggestions: (drafts?.drafts ?? []).map(({ facts: { domainId, vendor, event }, rule, reason }) => ({
      domainId,
      vendor: mask(vendor),
      event: mask(event),
      name: mask(rule.name),
      reason: mask(reason),
    })),
    gaps: gapsOf(sources, span),
    lastEventAt: domains.lastEventAt,
    names: namesOf(sources, orgId, domains.names, traffic),
  }
}

/** Weekly report with personal data masked in titles. */
async function weekOf(sources: Sources, orgId: string, now: Instant, mask: Mask): Promise<WeeklyReport> {
  const report = await reportOf(sources, orgId, { domainIds: null, from: lastWeek(now), now })
  return { ...report, worst: report.worst.map((issue) => ({ ...issue, title: mask(issue.title) })) }
}

/** Returns a sentence for each issue that affects some segments far more than others, by issue id. */
async function affectedBy(
  sources: Sources,
  orgId: string,
  issues: WeeklyReport['worst'],
  now: Instant,
): Promise<Map<string, string>> {
  const sentences = new Map<string, string>()
  for (const { id } of issues) {
    const problem = problemOf(sources, { id, occurrenceSeries: [] }, { orgId, now })
    const { segments, summary } = await segmentsOfIssue(sources, problem)
    if (segments.length > 0) sentences.set(id, summary)
  }
  return sentences
}

const PARTS = ['availability', 'accuracy', 'compliance'] as const

/** Masks personal data in external text and converts the text to a single line. */
const textMask =
  (mask: Mask): Mask =>
  (text, key) =>
    oneLine(mask(text, key), MAX_TEXT)

function domainsIn({ db }: Sources, orgId: string, mask: Mask) {
  const rows = db
    .prepare<[string], { id: string; name: string; lastEventAt: Instant | null }>(
      'SELECT id, name, lastEventAt FROM domain WHERE orgId = ? ORDER BY id',
    )
    .all(orgId)
  const times = rows.flatMap(({ lastEventAt }) => lastEventAt ?? [])
  return {
    names: new Map(rows.map(({ id, name }) => [id, mask(name)])),
    lastEventAt: times.length > 0 ? Math.max(...times) : null,
  }
}

/** Merges names that are identical after masking. */
function maskedTraffic({ names, fresh, hours }: Traffic, mask: Mask): Traffic {
  const masked = (list: readonly NameCount[]): NameCount[] => {
    const joined = new Map<string, NameCount>()
    for (const one of list) {
      const named = { ...one, vendor: mask(one.vendor, '$vendor'), event: mask(one.event, '$event') }
      const key = `${one.domainId}\0${named.vendor}\0${named.event}`
      const other = joined.get(key)
      const before = other && (other.before === null || one.before === null ? null : other.before + one.before)
      joined.set(key, other ? { ...other, now: other.now + one.now, before: before ?? null } : named)
    }
    return [...joined.values()]
  }
  return { names: masked(names), fresh: masked(fresh), hours }
}

function issuesOf(
  { db }: Sources,
  orgId: string,
  domains: ReadonlyMap<string, string>,
  { window, before }: DigestPeriod,
  mask: Mask,
): DigestFacts['issues'] {
  const digestIssueOf = (issue: IssueRecord) => digestIssue(issue, domains, mask)
  const open = unresolvedIssues(db, orgId).toSorted(
    (a, b) => SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity] || (b.impactValue ?? -1) - (a.impactValue ?? -1),
  )
  return {
    opened: issuesWithHistory(db, orgId, OPENED, window).map(digestIssueOf),
    resolved: issuesWithHistory(db, orgId, RESOLVED, window)
      .filter(({ status }) => status === 'resolved')
      .map(digestIssueOf),
    open: open.map(digestIssueOf),
    openedBefore: countIssuesWithHistory(db, orgId, OPENED, before),
    resolvedBefore: countIssuesWithHistory(db, orgId, RESOLVED, before),
  }
}

const OPENED = ['opened', 'reopened'] as const
const RESOLVED = ['resolved'] as const

function digestIssue(issue: IssueRecord, domains: ReadonlyMap<string, string>, mask: Mask): DigestIssue {
  const { id, title, status, severity, domainId, occurrences, impactValue, firstSeenAt, evidence, alertType } = issue
  const { unit } = issueKindOf(alertType).messages
  return {
    id,
    status,
    severity,
    domainId,
    firstSeenAt,
    value: impactValue,
    title: mask(title),
    domain: domainId === null ? null : (domains.get(domainId) ?? null),
    vendor: evidence?.vendor ? mask(evidence.vendor) : null,
    event: evidence?.event ? mask(evidence.event) : null,
    occurrences: `${occurrences.toLocaleString('en-US')} ${occurrences === 1 ? unit.one : unit.many}`,
    summary: evidence ? mask(evidence.summary) : '',
    sample: sampleOf(evidence?.sample ?? null, mask),
  }
}

const MAX_SAMPLE_ROWS = 12
/** Technical fields of a sample, and fields shown elsewhere in the digest. */
const TECHNICAL = [
  'seq',
  'id',
  'receivedAt',
  'ts',
  'orgId',
  'domainId',
  'weight',
  'violations',
  'kind',
  'vendor',
  'event',
]

function sampleOf(sample: Record<string, unknown> | null, mask: Mask): [string, string][] {
  const rows: [string, string][] = []
  const walk = (value: unknown, name: string) => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value))
        walk(item, name === '' || name === 'params' ? key : `${name}.${key}`)
    } else if (value !== null && value !== undefined && value !== '') rows.push([mask(name), mask(String(value), name)])
  }
  walk(Object.fromEntries(Object.entries(sample ?? {}).filter(([key]) => !TECHNICAL.includes(key))), '')
  return rows.slice(0, MAX_SAMPLE_ROWS)
}

function sumsOf({ db }: Sources, orgId: string, issues: DigestFacts['issues'], now: Instant): DigestFacts['value'] {
  const { openValue, resolvedValue30d } = issueValueOf(db, orgId, now)
  const sum = (list: readonly DigestIssue[]) => list.reduce((sum, { value }) => sum + (value ?? 0), 0)
  const stillOpen = issues.opened.filter(({ status }) => status === 'open' || status === 'acknowledged')
  return { open: openValue, opened: sum(stillOpen), resolved: sum(issues.resolved), resolved30d: resolvedValue30d }
}

function changesOf(sources: Sources, orgId: string, { window }: DigestPeriod, mask: Mask): DigestChange[] {
  const privacy = sources.privacy()
  return changesWatched(sources.db, orgId, window).map((change) => {
    const { id, title, source, status, occurredAt, domainId, domain, findings } = maskedChange(change, privacy)
    const effects = findings.items.map(({ vendor, event, detail, harmful }) => ({
      domainId,
      vendor: mask(vendor),
      event: mask(event),
      detail: mask(detail),
      harmful,
    }))
    return { id, title: mask(title), source, status, occurredAt, domainId, domain: mask(domain), effects }
  })
}

/** Findings are masked before they are stored, so no masking is needed here. */
function findingsOf({ db }: Sources, orgId: string, { window }: DigestPeriod): DigestFacts['findings'] {
  const seen = openFindings(db, orgId).filter(({ lastSeenAt }) => lastSeenAt >= window.from)
  return { seen, fresh: seen.filter(({ firstSeenAt }) => firstSeenAt >= window.from) }
}

async function ordersOf(
  sources: Sources,
  orgId: string,
  domains: ReadonlyMap<string, string>,
  { window, before }: DigestPeriod,
): Promise<DigestOrders[]> {
  const all: DigestOrders[] = []
  const to = window.to - SETTLED_MS
  for (const [domainId, domain] of domains) {
    const paid = ordersSince(sources.db, domainId, before.from).filter(({ status }) => status === 'paid')
    const own = paid.filter(({ at }) => at >= window.from && at < to)
    const earlier = paid.filter(({ at }) => at >= before.from && at < to - 7 * DAY_MS).length
    if (own.length === 0 && earlier === 0) continue
    const span = { from: window.from, to, now: window.to - 1 }
    const vendors = own.length > 0 ? await reconciled(sources, { orgId, domainId, ...span }) : []
    const value = own.reduce((sum, { value }) => sum + (value ?? 0), 0)
    all.push({ domainId, domain, orders: own.length, value, before: earlier, vendors })
  }
  return all
}

function gapsOf({ db }: Sources, { window, before }: DigestPeriod): DigestFacts['gaps'] {
  const of = (span: DigestPeriod['window']) => coveredMs(mergeGaps(gapsBetween(db, span.from, span.to)), span)
  return { nowMs: of(window), beforeMs: of(before) }
}

const MAX_LABELS = 500

function namesOf({ db }: Sources, orgId: string, domains: ReadonlyMap<string, string>, { names }: Traffic): Nameable[] {
  const distinct = (list: readonly string[]) => [...new Set(list)].filter((name) => name !== '')
  return [
    ...[...domains].map(([domainId, name]): Nameable => ({ kind: 'domain', name, domainId })),
    ...listLabels(db, orgId, { limit: MAX_LABELS }).items.map(
      ({ label, members }): Nameable => ({
        kind: 'label',
        name: label,
        members: members.map(({ vendor, event }) => ({ vendor, event: event === '' ? null : event })),
      }),
    ),
    ...distinct(names.map(({ vendor }) => vendor)).map(
      (vendor): Nameable => ({
        kind: 'vendor',
        name: vendor,
        members: [{ vendor, event: null }],
      }),
    ),
    ...distinct(names.map(({ event }) => event)).map(
      (event): Nameable => ({
        kind: 'event',
        name: event,
        members: [{ vendor: null, event }],
      }),
    ),
  ]
}
