import { describeAlert } from '../alerts/alert-routes.ts'
import { AlertSchema } from '../alerts/alert-schema.ts'
import { ChangeNameSchema, maskedNames } from '../changes/change.ts'
import { changesOfIssue } from '../changes/store.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { momentText, periodText } from '../core/moment-text.ts'
import { Closed, Nullable, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { countText, oneLine } from '../core/text.ts'
import { may } from '../http/permission.ts'
import { causeOfIssue, IssueCauseSchema } from '../insights/causes.ts'
import { EventSchema } from '../insights/event-search.ts'
import { insight } from '../insights/insight.ts'
import { DeliverySchema, describeDelivery } from '../integrations/delivery/delivery.ts'
import { listDeliveries } from '../integrations/delivery/delivery-store.ts'
import type { Explanation } from '../issues/domain-drop-explanation.ts'
import { ExplanationSchema, explanationOf } from '../issues/domain-drop-explanation.ts'
import type { IssueDetail, IssueRecord } from '../issues/issue.ts'
import { IssueDetailSchema } from '../issues/issue.ts'
import { issueKindOf } from '../issues/issue-kinds.ts'
import { describeIssue } from '../issues/routes.ts'
import { findIssue } from '../issues/store.ts'
import { specialFields, specialPeriods } from '../maintenance/special-periods.ts'
import type { Db } from '../store/database.ts'
import { MAX_EVENTS, samplesOf } from './event-samples.ts'
import { type SeriesSources, seriesFields, seriesOf } from './evidence-series.ts'
import { alertOrNull, problemOf } from './issue-problem.ts'
import { EvidenceRunSchema, runOfIssue } from './run-evidence.ts'

const MAX_DELIVERIES = 50

export const IssueEvidenceSchema = Closed(
  {
    issue: IssueDetailSchema,
    alert: Nullable(AlertSchema),
    summary: Type.String({
      description: 'One-sentence summary of the problem, with its location, frequency and start',
    }),
    explainedBy: Nullable(ExplanationSchema),
    cause: Nullable(IssueCauseSchema),
    run: Nullable(EvidenceRunSchema),
    capturePct: Type.Optional(
      Type.Number({ description: 'Only for missing orders: captured share of the orders since the start, in percent' }),
    ),
    usualCapturePct: Type.Optional(
      Nullable(Type.Number(), { description: 'Usual share in percent; null while it is being learned' }),
    ),
    missingOrders: Type.Optional(
      Type.Array(Type.String(), { maxItems: 20, description: 'Ids of missing orders, newest first' }),
    ),
    missingValue: Type.Optional(
      Nullable(Type.Number(), {
        description:
          'Value of missing orders beyond the usual share since the start, in the currency of the organization; null if orders have no value',
      }),
    ),
    missingValuePerHour: Type.Optional(
      Nullable(Type.Number(), { description: '`missingValue` divided by the hours since the start' }),
    ),
    ...seriesFields,
    badSample: Nullable(EventSchema),
    goodSample: Nullable(EventSchema),
    events: Type.Array(EventSchema, {
      maxItems: MAX_EVENTS,
      description: 'Violating events, newest first; empty for alerts on counts',
    }),
    changes: Type.Array(ChangeNameSchema, {
      description: 'Domain changes in whose watch window the issue was opened, newest first',
    }),
    ...specialFields,
    deliveries: Type.Array(DeliverySchema, {
      maxItems: MAX_DELIVERIES,
      description: 'Notifications about the issue, newest first; targets are empty for viewers and read-only keys',
    }),
  },
  { $id: 'IssueEvidence', examples: [example()] },
)

function example() {
  const [issue, alert, event, delivery] = [IssueDetailSchema, AlertSchema, EventSchema, DeliverySchema].map(
    ({ examples }) => examples?.[0],
  )
  return {
    issue,
    alert,
    summary:
      'Purchases have a value: Google Analytics 4 purchase events break the rule on Shop (shop.example), 42 times from ' +
      '5 Jan 2026, 13:00 to 13:30 CET.',
    explainedBy: null,
    cause: { kind: 'tag', title: 'Google Analytics 4 on Shop', changeId: null },
    run: null,
    series: [{ start: 1_767_614_400_000, observed: 42, expected: 0, low: null, high: null, partial: true }],
    grain: 'hour',
    badSample: event,
    goodSample: null,
    events: [event],
    changes: [],
    deliveries: [delivery],
  }
}

/**
 * Returns all data needed to assess an issue, in one response.
 * @param box Decrypts channel targets.
 */
export const issueEvidence = (box: SecretBox) =>
  insight({
    id: 'investigateIssue',
    tag: 'Issues',
    summary: 'Get all data needed to assess an issue, in one response',
    description:
      'Returns the issue with its alert, a one-sentence summary, its probable cause, its series over time, a violating and a ' +
      'valid event, violating events, and notifications. `getIssueSegments` shows the affected segments; its queries take ' +
      'longer. Personal data is always masked. For a ' +
      'deleted alert, only data stored with the issue is returned, because the fields that its rule treated as personal are unknown. ' +
      'For viewers and read-only keys, channel targets are masked and delivery targets are empty.',
    path: '/issues/{id}/evidence',
    isQuick: true,
    refusals: ['unavailable'],
    params: Closed({ id: Type.String() }),
    output: IssueEvidenceSchema,
    async answer(sources, { id }, { principal, now }) {
      const { db, history, seriesMonitor, watermark } = sources
      const { orgId } = principal
      const detail = findIssue(db, orgId, id, now)
      const problem = problemOf(sources, detail, { orgId, now })
      const explainedBy = explanationOf(db, problem)
      const alert = alertOrNull(db, orgId, problem.issue.alertId)
      const deliveries = listDeliveries(db, orgId, { issueId: id, limit: MAX_DELIVERIES }).items
      const chart: SeriesSources['chart'] = (scope, range) => seriesMonitor.chart(scope, range, watermark())
      const [series, samples, cause] = await Promise.all([
        seriesOf(problem, { history, chart }),
        samplesOf(problem, history),
        causeOfIssue(sources, problem.issue, now),
      ])
      return {
        issue: describeIssue(box, detail, principal),
        alert: alert && describeAlert(box, alert, principal),
        summary: summaryOf(problem.issue, { domain: detail.domain, explainedBy, timezone: problem.timezone }),
        explainedBy,
        cause: cause?.cause ?? null,
        run: runOfIssue(db, problem.issue, sources.privacy(), may(principal, 'seePersonal')),
        ...lossOf(problem.issue),
        changes: maskedNames(changesOfIssue(db, problem.issue), sources.privacy()),
        deliveries: deliveries.map((row) => describeDelivery(box, row, principal)),
        specialPeriods: await specialOf(db, problem.issue, series.series),
        ...series,
        ...samples,
      }
    },
  })

/** Returns the holidays and maintenance windows of the issue's domain within its series. */
async function specialOf(db: Db, { orgId, domainId }: IssueRecord, series: readonly { start: Instant }[]) {
  const [first, second] = series
  const last = series.at(-1)
  if (!first || !last || domainId === null) return []
  const to = last.start + (second ? second.start - first.start : HOUR_MS)
  return specialPeriods(db, { orgId, domainIds: [domainId], vendor: null }, { from: first.start, to })
}

/** Returns the missing orders of an order capture issue; nothing for other issues. */
function lossOf({ evidence }: IssueRecord) {
  const loss = evidence?.orderCapture
  if (!loss) return {}
  const { capturePct, usualPct, missingOrders, missingValue, missingValuePerHour } = loss
  return { capturePct, usualCapturePct: usualPct, missingOrders, missingValue, missingValuePerHour }
}

const MAX_NAME_LENGTH = 200

/** Input for the summary in addition to the issue. */
interface SummaryContext extends Pick<IssueDetail, 'domain'> {
  explainedBy: Explanation | null
  /** Time zone of the organization. */
  timezone: string
}

/**
 * Summarises the issue in one sentence: the problem, its hosts, its frequency, its period, and its explanation.
 */
export function summaryOf(issue: IssueRecord, { domain, explainedBy, timezone }: SummaryContext): string {
  const { alertName, status } = issue
  const state = status === 'open' ? '' : `; the issue is ${status}`
  const cause = explainedBy === null ? '' : `; explained by "${name(explainedBy.title)}"`
  const what = whatOf(issue)
  const hosts = issue.hosts ?? []
  // Audit findings already contain the URL.
  const isPlaced = hosts.some((host) => what.includes(`//${host}/`))
  return `${name(alertName)}: ${what}${placeOf(domain, isPlaced ? [] : hosts)}, ${timesOf(issue)} ${spanOf(issue, timezone)}${state}${cause}.`
}

const name = (text: string) => oneLine(text, MAX_NAME_LENGTH)

function whatOf({ alertType, evidence }: IssueRecord): string {
  const subject = [evidence?.vendor, evidence?.event].flatMap((part) => (part ? [name(part)] : [])).join(' ')
  return issueKindOf(alertType).messages.summary({ subject, summary: evidence && name(evidence.summary) })
}

function placeOf(domain: string | null, hosts: readonly string[]): string {
  const [first, ...others] = hosts
  const more = others.length === 0 ? '' : ` and ${others.length} more ${others.length === 1 ? 'host' : 'hosts'}`
  const host = first === undefined ? '' : name(first) + more
  if (domain === null || domain === first) return host && ` on ${host}`
  return ` on ${name(domain)}${host && ` (${host})`}`
}

/** Returns `12 times`, or `in 3 windows` for types that count windows. */
function timesOf({ alertType, occurrences }: IssueRecord): string {
  const { countsFirings, unit } = issueKindOf(alertType).messages
  const [one, many] = countsFirings ? [unit.one, unit.many] : ['time', 'times']
  const count = `${countText(occurrences)} ${occurrences === 1 ? one : many}`
  return countsFirings ? `in ${count}` : count
}

/**
 * Returns `from 5 Jan 2026, 12:00 to 12:30 UTC`. Within one minute, returns `at …`, or `since …` for several occurrences.
 */
function spanOf({ firstSeenAt, lastSeenAt, occurrences }: IssueRecord, timezone: string): string {
  const first = momentText(firstSeenAt, timezone)
  if (first !== momentText(lastSeenAt, timezone)) return `from ${periodText(firstSeenAt, lastSeenAt, timezone)}`
  return `${occurrences === 1 ? 'at' : 'since'} ${first}`
}
