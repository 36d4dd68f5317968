import { ChangeSchema, maskedChange } from '../changes/change.ts'
import { changesIn } from '../changes/store.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import { type IssueRecord, IssueSchema } from '../issues/issue.ts'
import { issueActivity } from '../issues/issue-activity.ts'
import { issueOf } from '../issues/store.ts'
import { specialFields, specialPeriods } from '../maintenance/special-periods.ts'
import { type ChartPoint, pointFields, roundBounds, roundEvents } from '../signals/chart-point.ts'
import { COUNT_RETENTION_MS, countsIn, sumsIn, type TimeBucket } from './count-series.ts'
import { EXPECTED_OF_SEVERAL, expectationOf } from './expected-volume.ts'
import { insight, type Sources } from './insight.ts'
import { domainsNamed, requestedDomains } from './query-params.ts'
import { healthIn, ScoresSchema, scoresOf } from './scores.ts'

export const WEEK_MS = 7 * DAY_MS
/** The first Monday after the Unix epoch, 5 January 1970. */
const FIRST_MONDAY = 4 * DAY_MS

/** Maximum number of issues, and maximum number of changes, in a report. */
const MAX_WORST = 10
const MAX_CHANGES = 50

const Input = Closed({
  week: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-W\\d{2}$',
      description: 'ISO 8601 week (Monday to Sunday, UTC); default: the last complete week',
      examples: ['2026-W47'],
    }),
  ),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: 'Only domains of this project' })),
})

const EXAMPLE_WEEK = Date.UTC(2026, 10, 16)
const EXAMPLE_SCORE = { score: 96, detail: 'Meta Pixel Purchase is silent on Shop.' }

const WeeklyReportSchema = Closed(
  {
    week: Type.String(),
    from: InstantSchema,
    to: InstantSchema,
    scores: Closed(
      { now: Nullable(ScoresSchema), before: Nullable(ScoresSchema) },
      { description: 'Scores of the week and of the previous week; null when no domain existed' },
    ),
    issues: Closed({
      opened: Int({ description: 'Issues opened or reopened in the week' }),
      resolved: Int({ description: 'Issues resolved in the week and still resolved at the end' }),
      open: Int({ description: 'Issues open or acknowledged at the end of the week' }),
      medianResolveMs: Nullable(Int({ description: 'Median time to resolution' })),
    }),
    value: Closed({
      resolved: Type.Number({ description: 'Total impact value of resolved issues' }),
      open: Type.Number({ description: 'Total impact value of issues open at the end' }),
    }),
    volume: Closed({
      events: Int({ description: 'Weighted' }),
      before: Nullable(Int({ description: 'Events in the previous week; null when no domain existed' })),
      series: Type.Array(Closed(pointFields), {
        description: `By hour. ${EXPECTED_OF_SEVERAL}`,
      }),
      ...specialFields,
    }),
    worst: Type.Array(IssueSchema, {
      maxItems: MAX_WORST,
      description: 'Issues opened in the week or open at its end, most severe first, with their current data',
    }),
    changes: Type.Array(ChangeSchema, {
      maxItems: MAX_CHANGES,
      description: 'Changes in the week, newest first',
    }),
    signals: Closed(
      { watched: Int(), silent: Int(), learning: Int() },
      { description: 'State at the end of the week; muted and disabled signals are not monitored' },
    ),
  },
  {
    $id: 'WeeklyReport',
    examples: [
      {
        week: '2026-W47',
        from: EXAMPLE_WEEK,
        to: EXAMPLE_WEEK + WEEK_MS,
        scores: {
          now: { overall: 96, availability: EXAMPLE_SCORE, accuracy: EXAMPLE_SCORE, compliance: EXAMPLE_SCORE },
          before: null,
        },
        issues: { opened: 3, resolved: 4, open: 2, medianResolveMs: 5_400_000 },
        value: { resolved: 12_000, open: 900 },
        volume: {
          events: 48_210,
          before: 46_900,
          series: [{ start: EXAMPLE_WEEK, observed: 84, expected: 80.5, low: 43, high: 131, partial: false }],
          specialPeriods: [],
        },
        worst: [],
        changes: [],
        signals: { watched: 24, silent: 1, learning: 2 },
      },
    ],
  },
)
export type WeeklyReport = Static<typeof WeeklyReportSchema>

/** Summary of a week, also used for Monday's digest. */
export const weeklyReport = insight({
  id: 'getWeeklyReport',
  summary: 'Summarise a week: issues, their value, resolutions and changes, compared with the previous week',
  path: '/reports/weekly',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: WeeklyReportSchema,
  async answer(sources, { week, projectId }, { principal: { orgId }, now }) {
    const domainIds = domainsNamed(sources, orgId, { projectId })
    return reportOf(sources, orgId, { domainIds, from: startOf(week, now), now })
  },
})

/**
 * Returns the start of the week. Throws `invalid` when the value is not a week, the week is in the future, or it is
 * older than the retention period.
 */
function startOf(week: string | undefined, now: Instant): Instant {
  if (week === undefined) return lastWeek(now)
  const from = parseWeek(week)
  if (from === null) throw new AppError('invalid', 'query.week: is not a valid week')
  if (from > now) throw new AppError('invalid', 'query.week: must not be in the future')
  if (from < now - COUNT_RETENTION_MS)
    throw new AppError('invalid', 'query.week: must be within the last 400 days, the retention period of counts')
  return from
}

/** Returns the start of the last complete week. */
export const lastWeek = (now: Instant): Instant => weekStart(now) - WEEK_MS

/** A week, and the domains to include; null for all domains. */
export interface ReportScope {
  domainIds: readonly string[] | null
  from: Instant
  now: Instant
}

/**
 * Returns the report for the week that begins at `from`; for the current week, up to now. Throws `unavailable` when the
 * history does.
 */
export async function reportOf(sources: Sources, orgId: string, scope: ReportScope): Promise<WeeklyReport> {
  const { domainIds, from, now } = scope
  const to = from + WEEK_MS
  const health = (start: Instant) =>
    healthIn(sources, orgId, { domainIds, from: start, to: Math.min(start + WEEK_MS, now + 1), time: 'the week' }, now)
  const [own, earlier, volume] = await Promise.all([
    health(from),
    health(from - WEEK_MS),
    volumeOf(sources, orgId, scope),
  ])
  const { opened, resolved, open, resolvedAfterMs } = issueActivity(sources.db, orgId, { from, to }, domainIds)
  const privacy = sources.privacy()
  const changes = changesIn(sources.db, orgId, { domainIds, from, to, limit: MAX_CHANGES })
  const signals = own.flatMap((domain) => domain.signals)
  const inState = (state: string) => signals.filter((signal) => signal.state === state).length
  return {
    week: weekName(from),
    from,
    to,
    volume,
    scores: { now: own.length > 0 ? scoresOf(own) : null, before: earlier.length > 0 ? scoresOf(earlier) : null },
    issues: {
      opened: opened.length,
      resolved: resolved.length,
      open: open.length,
      medianResolveMs: medianOf(resolvedAfterMs),
    },
    value: { resolved: impactOf(resolved), open: impactOf(open) },
    worst: gravest([...opened, ...open]).map((issue) => issueOf(issue)),
    changes: changes.map((change) => maskedChange(change, privacy)),
    signals: { watched: signals.length, silent: inState('silent'), learning: inState('learning') },
  }
}

const impactOf = (issues: readonly IssueRecord[]) =>
  issues.reduce((sum, { impactValue }) => sum + (impactValue ?? 0), 0)

/** Returns the median; null for an empty list. */
function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2)
}

const RANK = ['low', 'medium', 'high', 'critical']

/** Returns issues sorted by severity, then value, then occurrences, without duplicates. */
function gravest(issues: readonly IssueRecord[]): IssueRecord[] {
  return [...new Map(issues.map((issue) => [issue.id, issue])).values()]
    .toSorted(
      (a, b) =>
        RANK.indexOf(b.severity) - RANK.indexOf(a.severity) ||
        (b.impactValue ?? -1) - (a.impactValue ?? -1) ||
        b.occurrences - a.occurrences,
    )
    .slice(0, MAX_WORST)
}

async function volumeOf(sources: Sources, orgId: string, scope: ReportScope): Promise<WeeklyReport['volume']> {
  const { from, now, domainIds } = scope
  const all = requestedDomains(sources, orgId, {})
  const domains = domainIds === null ? all : all.filter(({ id }) => domainIds.includes(id))
  const end = Math.min(from + WEEK_MS, Math.ceil((now + 1) / HOUR_MS) * HOUR_MS)
  const madeAt = Math.min(...domains.map(({ createdAt }) => createdAt))
  if (madeAt >= end) return { events: 0, before: null, series: [], specialPeriods: [] }
  const ids = domains.map(({ id }) => id)
  const buckets = hoursOf(from - WEEK_MS, end)
  const [sums, expected, special] = await Promise.all([
    sumsIn(buckets, countsIn(orgId, { domainIds: ids, vendors: [], event: null }), sources.history),
    expectationOf(sources, orgId, { domainIds: ids, vendor: null, event: null, stepMs: HOUR_MS }, { from, to: end }),
    specialPeriods(sources.db, { orgId, domainIds: ids, vendor: null }, { from, to: end }),
  ])
  const counted = buckets.map(({ start, end }, at) => ({ start, end, weight: sums[at]?.weight ?? 0 }))
  const weightOf = (hours: typeof counted) => roundEvents(hours.reduce((sum, { weight }) => sum + weight, 0))
  const own = counted.filter(({ start }) => start >= from)
  return {
    events: weightOf(own),
    before: madeAt < from ? weightOf(counted.filter(({ start }) => start < from)) : null,
    series: own
      .filter(({ end }) => end > madeAt)
      .map(({ start, end, weight }): ChartPoint => {
        const { partial, ...bounds } = expected(start)
        return { start, observed: roundEvents(weight), ...roundBounds(bounds), partial: partial || end > now }
      }),
    specialPeriods: special,
  }
}

function hoursOf(from: Instant, to: Instant): TimeBucket[] {
  const count = (to - from) / HOUR_MS
  return Array.from({ length: count }, (_, n) => ({ start: from + n * HOUR_MS, end: from + (n + 1) * HOUR_MS }))
}

/** Returns the Monday, at midnight UTC, of the week that contains an instant. */
export function weekStart(at: Instant): Instant {
  return Math.floor((at - FIRST_MONDAY) / WEEK_MS) * WEEK_MS + FIRST_MONDAY
}

/**
 * Returns the ISO 8601 name of the week that contains an instant, such as `2026-W47`. The week belongs to the year of
 * its Thursday.
 */
export function weekName(at: Instant): string {
  const thursday = weekStart(at) + 3 * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  const number = Math.floor((thursday - Date.UTC(year, 0, 1)) / WEEK_MS) + 1
  return `${year}-W${String(number).padStart(2, '0')}`
}

/** Returns the start of the week with this name; null for an invalid name, such as week 53 in a year with 52 weeks. */
export function parseWeek(name: string): Instant | null {
  const [, year, number] = /^(\d{4})-W(\d\d)$/.exec(name) ?? []
  // 4 January is always in the first week of its year.
  const start = weekStart(Date.UTC(Number(year), 0, 4)) + (Number(number) - 1) * WEEK_MS
  return weekName(start) === name ? start : null
}
