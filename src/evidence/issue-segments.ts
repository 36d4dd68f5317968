import { DAY_MS } from '../core/clock.ts'
import { Type, Closed } from '../core/schema.ts'
import { insight, type Sources } from '../insights/insight.ts'
import { issueKindOf } from '../issues/issue-kinds.ts'
import { findIssue } from '../issues/store.ts'
import { findSegments } from '../segments/find-segments.ts'
import { sessionsOf } from '../segments/rank-segments.ts'
import { countScope } from '../segments/segment-counts.ts'
import { describeSegment, maskedSegment, type Segments, SegmentsSchema } from '../segments/segment-schema.ts'
import { violationSummary } from '../segments/segment-text.ts'
import { type IssueProblem, problemOf } from './issue-problem.ts'

/** Maximum length of the period that is compared: the most recent part of a longer issue. */
export const MAX_PERIOD_MS = 7 * DAY_MS

/** The segments of visitors and pages that an issue affects. */
export const issueSegments = insight({
  id: 'getIssueSegments',
  tag: 'Issues',
  summary: 'Show who is affected by an issue: the browsers, systems, pages and other segments in which it occurs',
  description:
    'Compares violating events with all other events that the alert evaluates, from the first occurrence on, for at most the last 7 days. ' +
    '`/docs/use/affected-segments` describes the method.',
  path: '/issues/{id}/segments',
  refusals: ['unavailable'],
  params: Closed({ id: Type.String() }),
  output: SegmentsSchema,
  async answer(sources, { id }, { principal: { orgId }, now }) {
    const detail = findIssue(sources.db, orgId, id)
    return segmentsOfIssue(sources, problemOf(sources, detail, { orgId, now }))
  },
})

/** Returns the segments that the issue affects, with personal data masked. */
export async function segmentsOfIssue(
  sources: Pick<Sources, 'history'>,
  problem: IssueProblem,
): Promise<Segments> {
  const { rule, issue } = problem
  const { inScope, violating } = issueKindOf(issue.alertType).evidence
  if (rule === null || !inScope) return nothingCompared('the events in scope are not known')
  const incident = { ...problem, rule }
  if (violating) return violationSegments(sources, problem, {
    includes: (binder) => inScope(incident, binder),
    violates: (binder) => violating(problem, binder),
  })
  return nothingCompared('')
}
