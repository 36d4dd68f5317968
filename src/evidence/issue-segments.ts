import { type Alert, domainsOf } from '../alerts/alert.ts'
import { eventsInScope } from '../alerts/judge-past-events.ts'
import type { NamedEvents } from '../alerts/types/event-scope.ts'
import type { EventFilter, Evidence } from '../alerts/types/evidence.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { insight, type Sources } from '../insights/insight.ts'
import { issueKindOf } from '../issues/issue-kinds.ts'
import { findIssue } from '../issues/store.ts'
import { comparePeriods } from '../segments/compare-periods.ts'
import { compareViolations, nothingCompared } from '../segments/compare-violations.ts'
import { type AffectedSegments, AffectedSegmentsSchema } from '../segments/segment-schema.ts'
import type { Binder, Query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { type IssueProblem, problemOf } from './issue-problem.ts'

/** Maximum length of the period that is compared: the most recent part of a longer issue. */
const MAX_PERIOD_MS = 7 * DAY_MS
/** Maximum number of events from which sessions are put together. Above this number, one in several sessions is read. */
const MAX_SESSION_EVENTS = 200_000

/** The segments of visitors and pages that an issue affects. */
export const issueSegments = insight({
  id: 'getIssueSegments',
  tag: 'Issues',
  summary: 'Show who is affected by an issue: the browsers, systems, pages and other segments in which it occurs',
  description:
    'For an alert on single events, compares the violating events with all others that the alert evaluates, since the first ' +
    'occurrence. For a journey, compares the sessions that fail at the step at which most sessions fail with those that reached this ' +
    'step and follow the journey; `violating`, `healthy` and `total` then count sessions. For an alert on counts, compares the events since the first occurrence with those of the same days and hours of the ' +
    'week before; `violating` is then the number of missing or additional events, `healthy` the number of existing events, and ' +
    '`total` the number expected (or observed, if there are too many). At most the last 7 days are read. ' +
    '`/docs/use/affected-segments` describes the method.',
  path: '/issues/{id}/segments',
  refusals: ['unavailable'],
  params: Closed({ id: Type.String() }),
  output: AffectedSegmentsSchema,
  exports: 'segments',
  async answer(sources, { id }, { principal: { orgId }, now }) {
    const detail = findIssue(sources.db, orgId, id)
    return segmentsOfIssue(sources, problemOf(sources, detail, { orgId, now }))
  },
})

/** Returns the segments that the issue affects, with personal data masked. */
export async function segmentsOfIssue(
  { history }: Pick<Sources, 'history'>,
  problem: IssueProblem,
): Promise<AffectedSegments> {
  const { rule, issue, privacy, timezone } = problem
  const { messages, evidence } = issueKindOf(issue.alertType)
  const { inScope, violating, sessions } = evidence
  if (rule === null) return nothingCompared('the alert’s rule is no longer known')
  const incident = { ...problem, rule }
  const { orgId } = issue
  const period = periodOf(problem)
  if (sessions) return compareSessions(sessions, incident, period, history)
  if (!inScope) return nothingCompared('there are no events to compare')
  if (violating) {
    return compareViolations(
      {
        orgId,
        window: period,
        includes: (binder) => inScope(incident, binder),
        violates: (binder) => violating(problem, binder),
      },
      { history, privacy, timezone },
    )
  }
  const isRise = messages.isRise(rule)
  return comparePeriods(
    {
      orgId,
      counted: (binder) => inScope(incident, binder),
      traffic: countsAll(rule, alertTypeOf(rule.alertType).scope(rule, issue.evidence))
        ? null
        : (binder) => otherEvents(incident, inScope(incident, binder), binder),
      observed: period,
      baseline: baselineOf(problem, period),
      direction: isRise === null ? null : isRise ? 'rise' : 'fall',
    },
    { history, privacy, timezone },
  )
}

/**
 * Compares the sessions that ended since the first occurrence. Their last event was received in the period, and they end
 * some time later.
 */
async function compareSessions(
  sessions: NonNullable<Evidence['sessions']>,
  incident: IssueProblem & { rule: Alert },
  { from, to }: Query['window'],
  history: History,
): Promise<AffectedSegments> {
  const { rule, issue, privacy, timezone, now } = incident
  const type = alertTypeOf(rule.alertType)
  const settlingMs = type.evaluated === 'by window' ? type.settlingMs : 0
  const window = { from: from + settlingMs, to: Math.min(to + settlingMs, now + 1) }
  if (window.from >= window.to) return nothingCompared('no session has ended yet')
  const own = issue.domainId === null ? rule : alertOfDomain(rule, issue.domainId)
  const { events } = await eventsInScope(own, { from, to }, history)
  const oneIn = Math.max(1, Math.ceil(events / MAX_SESSION_EVENTS))
  const { query, relationOf } = sessions(incident, window, { oneIn })
  const compared = relationOf(await history.query<never>(query))
  if (!compared) return nothingCompared('no sessions violate in this period')
  return compareViolations(
    {
      orgId: issue.orgId,
      window: compared.window,
      relation: compared.write,
      includes: () => ({ sql: 'true' }),
      violates: () => ({ sql: 'violates' }),
    },
    { history, privacy, timezone },
    { unit: 'sessions', oneIn },
  )
}

function alertOfDomain({ domainId: _, domainIds: __, ...rule }: Alert, domainId: string): Alert {
  return { ...rule, domainId }
}

/** Returns the period from the first occurrence until now, or until the last occurrence of a resolved issue. */
function periodOf({ issue, now, retainedFrom }: IssueProblem): Query['window'] {
  const to = (issue.status === 'resolved' ? issue.lastSeenAt : now) + 1
  return { from: Math.max(issue.firstSeenAt, retainedFrom, to - MAX_PERIOD_MS), to }
}

/**
 * Returns the same days and hours of the week before. If the domain did not exist then, returns the same hours of the
 * day before, or the time just before.
 */
function baselineOf({ domainSince }: IssueProblem, { from, to }: Query['window']): Query['window'] {
  const lengthMs = to - from
  const shift = [7 * DAY_MS, DAY_MS].find((ms) => ms >= lengthMs && from - ms >= domainSince) ?? lengthMs
  return { from: from - shift, to: to - shift } satisfies Record<string, Instant>
}

/** True if the alert counts every event of its domains. */
function countsAll(rule: Alert, scope: NamedEvents): boolean {
  return scope.vendors.length === 0 && scope.event === null && (rule.filters ?? []).length === 0
}

/** Returns the filter for the events of the same domains that the alert does not count. */
function otherEvents(
  { issue, rule }: IssueProblem & { rule: Alert },
  counted: EventFilter,
  binder: Binder,
): EventFilter {
  const domains = binder.among('domainId', issue.domainId === null ? domainsOf(rule) : [issue.domainId])
  return {
    ...counted,
    sql: [`kind <> 'library'`, ...domains, `CASE WHEN ${counted.sql} THEN false ELSE true END`].join(' AND '),
  }
}
