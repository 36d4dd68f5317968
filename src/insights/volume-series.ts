import { NO_BOUNDS } from '../alerts/types/evidence.ts'
import { ChangeNameSchema, maskedNames } from '../changes/change.ts'
import { changesWithin } from '../changes/store.ts'
import { maskedHistory } from '../conditions/masked-history.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import type { SeriesState } from '../detector/detector.ts'
import { may } from '../http/permission.ts'
import { membersOf } from '../labels/store.ts'
import { specialFields, specialPeriods } from '../maintenance/special-periods.ts'
import { pointFields, roundBounds, roundEvents } from '../signals/chart-point.ts'
import { SIGNAL_STEP_MS } from '../signals/series.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import type { Binder, Query } from '../warehouse/query.ts'
import { type Counted, countsIn, sumsIn, type TimeBucket } from './count-series.ts'
import { eventFilter, filterFields, hasFilters } from './event-filters.ts'
import { EXPECTED_OF_SEVERAL, expectationOf, type Together } from './expected-volume.ts'
import { type Caller, insight, type Sources } from './insight.ts'
import { domainFields, domainsNamed, periodFields, requestedDomains, textField, windowOf } from './query-params.ts'

const DEFAULT_HOURS = 72

/** Row length by the maximum number of hours requested. Daily rows begin at midnight UTC. */
const GRAINS = [
  { grain: 'minute', stepMs: MINUTE_MS, upToHours: 2 },
  { grain: 'five_minutes', stepMs: 5 * MINUTE_MS, upToHours: 24 },
  { grain: 'hour', stepMs: HOUR_MS, upToHours: 31 * 24 },
  { grain: 'day', stepMs: DAY_MS, upToHours: MAX_HOURS.series },
] as const

const STATES = ['learning', 'normal', 'high', 'low', 'silent'] as const satisfies readonly SeriesState[]

/** Maximum number of changes in a response. */
const MAX_CHANGES = 200

/** Maximum number of rows for any row length, including the current row. */
const MAX_POINTS = Math.max(...GRAINS.map(({ stepMs, upToHours }) => (upToHours * HOUR_MS) / stepMs)) + 1

const Input = Closed({
  ...domainFields,
  vendor: textField(200, 'Only this vendor, exact name'),
  event: textField(200, 'Only this event, exact name'),
  hours: Type.Optional(
    Int({
      minimum: 1,
      maximum: MAX_HOURS.series,
      default: DEFAULT_HOURS,
      description:
        'Length of the time range up to now or `to`; not used with `from`. Rows are minutes up to 2 hours, 5 minutes up to 24, hours up to 744, UTC days above',
    }),
  ),
  ...periodFields,
  grain: Type.Optional(
    OneOf(['minute', 'five_minutes', 'hour', 'day'] as const, {
      description: 'Length of the rows, instead of the one that follows from the time range; at most 745 rows',
    }),
  ),
  ...filterFields,
})

const Output = Closed(
  {
    grain: OneOf(GRAINS.map(({ grain }) => grain)),
    series: Type.Array(
      Closed({
        ...pointFields,
        pageViews: Int({
          description: 'Page views included in `observed`; a page view reported to two vendors counts twice',
        }),
      }),
      {
        maxItems: MAX_POINTS,
        description:
          'Oldest first, without gaps, from the creation of the domain up to the end of the period. Rows are complete ' +
          'even if the period begins or ends within them. Days have no expectation, nor do events without a named ' +
          `vendor or with a filter. ${EXPECTED_OF_SEVERAL}`,
      },
    ),
    state: Nullable(OneOf(STATES)),
    learningUntil: Nullable(InstantSchema),
    changes: Type.Array(ChangeNameSchema, {
      maxItems: MAX_CHANGES,
      description:
        'Changes of the domain, or of all domains, within the series, oldest first; limited to the most recent',
    }),
    ...specialFields,
  },
  {
    $id: 'VolumeSeries',
    examples: [
      {
        grain: 'hour',
        series: [
          { start: 1_767_610_800_000, observed: 84, expected: 80.5, low: 43, high: 131, partial: false, pageViews: 61 },
          { start: 1_767_614_400_000, observed: 12, expected: 82.1, low: 44, high: 133, partial: true, pageViews: 9 },
        ],
        state: 'normal',
        learningUntil: null,
        changes: [
          { id: 'chg_01ke7jm2q0d3k8f1z6y5b7n4ta', title: 'Checkout: new summary page', occurredAt: 1_767_614_000_000 },
        ],
        specialPeriods: [
          { kind: 'maintenance', name: 'Weekly deployment', from: 1_767_610_800_000, to: 1_767_614_400_000 },
        ],
      },
    ],
  },
)

/** Number of events over time, with the baseline and the normal range of automatic signals. */
export const volumeSeries = insight({
  id: 'getVolume',
  summary: 'Show the observed and the expected number of events',
  description:
    'Weighted counts of any scope, without library loads. Counts from `low` to `high` are not an ' +
    'anomaly at the sensitivity of the domain’s signals. `state` is the state of the last row. With `param`, `q`, ' +
    '`label` or `sessionId`, the series counts the stored events that `GET /v1/events` finds, including library loads.',
  path: '/insights/volume',
  isQuick: true,
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  exports: 'series',
  async answer(sources, input, caller) {
    const { principal, now } = caller
    const domains = requestedDomains(sources, principal.orgId, input)
    const period = windowOf(input, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS.series, now })
    const { grain, stepMs } = grainOf(input, period)
    const madeAt = Math.min(...domains.map(({ createdAt }) => createdAt))
    const buckets = bucketsOf(period, now, stepMs).filter(({ end }) => end > madeAt)
    const { vendor, event = null } = input
    const scope = { domainIds: domains.map(({ id }) => id), vendors: vendor === undefined ? [] : [vendor], event }
    const asked = { ...scope, vendor: vendor ?? null, stepMs }
    const isFiltered = hasFilters(input)
    const [sums, chart, expected] = await Promise.all([
      isFiltered
        ? sumsOfFound(sources, { input, domainIds: scope.domainIds, buckets }, caller)
        : sumsIn(buckets, countsIn(principal.orgId, scope), sources.history),
      isFiltered ? null : chartOf(sources, asked, buckets),
      isFiltered ? null : togetherOf(sources, principal.orgId, asked, buckets),
    ])
    const points = new Map(chart?.points.map((point) => [point.start, point]))
    const series = buckets.map(({ start, end }, index) => {
      const { weight, pageViews } = sums[index] ?? { weight: 0, pageViews: 0 }
      const { partial, ...bounds } = points.get(start) ?? expected?.(start) ?? { ...NO_BOUNDS, partial: false }
      return {
        start,
        observed: roundEvents(weight),
        ...roundBounds(bounds),
        partial: partial || end > now,
        pageViews: roundEvents(pageViews),
      }
    })
    const [first, last] = [buckets.at(0), buckets.at(-1)]
    const window = { from: first?.start ?? now, to: last?.end ?? now, limit: MAX_CHANGES }
    const { orgId } = principal
    const domainIds = domainsNamed(sources, orgId, input)
    const found = changesWithin(sources.db, { orgId, domainIds, ...window })
    const changes = maskedNames(found, sources.privacy())
    const { state = null, learningUntil = null } = chart ?? {}
    const subject = { orgId, domainIds: scope.domainIds, vendor: vendor ?? null }
    const special = await specialPeriods(sources.db, subject, window)
    return { grain, series, state, learningUntil, changes, specialPeriods: special }
  },
})

type VolumeSeriesInput = Static<typeof Input>

/** Returns the length of the rows. Throws `invalid`, naming the field, if there would be too many of them. */
function grainOf({ grain }: VolumeSeriesInput, { from, to }: Query['window']): (typeof GRAINS)[number] {
  // A period up to now includes the current millisecond.
  const hours = (to - from - 1) / HOUR_MS
  const usual = GRAINS.find(({ upToHours }) => hours <= upToHours) ?? GRAINS[3]
  const found = GRAINS.find((one) => one.grain === grain) ?? usual
  if ((hours * HOUR_MS) / found.stepMs > MAX_POINTS) {
    throw new AppError('invalid', `query.grain: the period has too many rows; use \`${usual.grain}\``)
  }
  return found
}

/** Returns the buckets that overlap the requested period and have begun. The last bucket may be incomplete. */
function bucketsOf({ from, to }: Query['window'], now: Instant, stepMs: number): TimeBucket[] {
  const startOf = (instant: Instant) => Math.floor(instant / stepMs) * stepMs
  const first = startOf(from)
  const count = Math.max(0, (startOf(Math.min(to - 1, now)) - first) / stepMs + 1)
  return Array.from({ length: count }, (_, index) => ({
    start: first + index * stepMs,
    end: first + (index + 1) * stepMs,
  }))
}

interface FoundEvents {
  input: VolumeSeriesInput
  domainIds: readonly string[]
  buckets: readonly TimeBucket[]
}

/** Returns the sums of the events that the search finds. For viewers, the search reads masked values. */
function sumsOfFound({ db, history, privacy }: Sources, found: FoundEvents, { principal }: Caller) {
  const { input, domainIds, buckets } = found
  const { orgId } = principal
  const written = eventFilter(input, { domainIds, members: membersOf(db, orgId) })
  const where = (binder: Binder) => {
    const { filter, ...reads } = written(binder)
    return { ...reads, sql: filter }
  }
  const counted: Counted = { over: 'events', orgId, where }
  return sumsIn(buckets, counted, may(principal, 'seePersonal') ? history : maskedHistory(history, privacy()))
}

/**
 * Returns whether a series can be monitored: it covers all events of a domain, one vendor, or one event of a vendor.
 */
const isFollowed = ({ vendor, event }: Together) => vendor !== null || event === null

/**
 * Returns the expectation for one domain; null when the requested series is not monitored. For daily rows it has no
 * normal range, only the state of the last hours.
 */
async function chartOf(sources: Sources, asked: Together, buckets: readonly TimeBucket[]): Promise<SeriesChart | null> {
  const { domainIds, vendor, event, stepMs } = asked
  const [domainId, ...others] = domainIds
  const [first, last] = [buckets.at(0), buckets.at(-1)]
  if (domainId === undefined || !first || !last || others.length > 0 || !isFollowed(asked)) return null
  const series = { domainId, vendor, event }
  if (stepMs <= SIGNAL_STEP_MS) return sources.chart({ ...series, stepMs }, { from: first.start, to: last.end })
  // Includes the previous hour, because the current day may have just begun.
  const range = { from: last.start - SIGNAL_STEP_MS, to: last.end }
  const chart = await sources.chart({ ...series, stepMs: SIGNAL_STEP_MS }, range)
  return { ...chart, points: [] }
}

/** Returns the combined expectation for several domains; null when none is known. */
async function togetherOf(
  sources: Sources,
  orgId: string,
  asked: Together,
  buckets: readonly TimeBucket[],
): Promise<Awaited<ReturnType<typeof expectationOf>> | null> {
  const [first, last] = [buckets.at(0), buckets.at(-1)]
  if (!first || !last || asked.domainIds.length < 2 || asked.stepMs > SIGNAL_STEP_MS || !isFollowed(asked)) return null
  return expectationOf(sources, orgId, asked, { from: first.start, to: last.end })
}
