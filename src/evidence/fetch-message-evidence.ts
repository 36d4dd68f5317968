import type { Alert } from '../alerts/alert.ts'
import { alertTypeOf } from '../alerts/types/index.ts'
import { type Clock, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { causeOfIssue } from '../insights/causes.ts'
import { type InsightRouteDeps, sourcesFor } from '../insights/routes.ts'
import type { FetchHistory } from '../integrations/delivery/message-enricher.ts'
import type { MessageHistory } from '../integrations/message/message.ts'
import { occurrenceSeries } from '../issues/store.ts'
import type { ChartPoint } from '../signals/chart-point.ts'
import { goodSampleOf } from './event-samples.ts'
import { seriesOf } from './evidence-series.ts'
import { type IssueProblem, problemOf } from './issue-problem.ts'
import { segmentsOfIssue } from './issue-segments.ts'

type MessageHistoryDeps = InsightRouteDeps & { clock: Clock }

/**
 * Returns a function that fetches the part of an issue's evidence that messages show. Each field is null if its query
 * fails.
 */
export function messageHistoryFetcher(deps: MessageHistoryDeps): FetchHistory {
  return async ({ orgId, id }, signal) => {
    const { db, seriesMonitor, clock, watermark } = deps
    const sources = sourcesFor(deps, orgId, signal, 'search')
    const { history } = sources
    const now = clock.now()
    const problem = await orNull(async () =>
      problemOf(sources, { id, occurrenceSeries: occurrenceSeries(db, id) }, { orgId, now }),
    )
    if (!problem) return null
    const [series, good, cause, affected] = await Promise.all([
      orNull(() =>
        seriesOf(problem, { history, chart: (scope, range) => seriesMonitor.chart(scope, range, watermark()) }),
      ),
      orNull(() => goodSampleOf(problem, history)),
      orNull(() => causeOfIssue(sources, problem.issue, now)),
      isNew(problem) ? null : orNull(() => segmentsOfIssue(sources, problem)),
    ])
    const { violations, ...goodSample } = good ?? { violations: [] }
    return {
      goodSample: good && goodSample,
      series: series && pointsOf(series.series),
      cause: cause?.sentence ? { sentence: cause.sentence } : null,
      affected: affected?.segments.length ? { sentence: affected.summary } : null,
      fields: problem.rule && fieldsOf(problem.rule),
    }
  }
}

/**
 * True for an issue whose violations cover less than a minute. They are usually too few to compare, and its message
 * should not wait for the queries.
 */
const isNew = ({ issue }: IssueProblem) => issue.lastSeenAt - issue.firstSeenAt < MINUTE_MS

/** Returns null on expected errors, such as an engine that is closed or too slow. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Omits the current window while its count is below the expected count for a complete window. */
function pointsOf(series: readonly ChartPoint[]): MessageHistory['series'] {
  return series
    .filter(({ partial, observed, expected }) => !partial || observed > (expected ?? -1))
    .map(({ start, observed, expected, low, high }) => ({
      at: start,
      value: observed,
      expected: expected ?? low ?? high,
    }))
}

/** Parameters used in a rule's conditions, in order and without duplicates. Excludes `*`, which means any parameter. */
function fieldsOf(rule: Alert): string[] {
  const own = alertTypeOf(rule.alertType).ownConditions(rule)
  const groups = rule.conditionGroups?.flatMap(({ items }) => items) ?? []
  const named = [...(rule.conditions?.items ?? []), ...groups, ...own].map(({ parameter }) => parameter)
  return [...new Set(named)].filter((parameter) => parameter !== '*')
}
