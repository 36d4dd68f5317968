import { NO_BOUNDS } from '../alerts/types/evidence.ts'
import { ChangeNameSchema, maskedNames } from '../changes/change.ts'
import { changesWithin } from '../changes/store.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import type { SeriesState } from '../detector/detector.ts'
import { pointFields, roundBounds, roundEvents } from '../signals/chart-point.ts'
import { SIGNAL_STEP_MS } from '../signals/series.ts'
import type { SeriesChart } from '../signals/verdict-row.ts'
import { countsIn, sumsIn, type TimeBucket } from './count-series.ts'
import { EXPECTED_OF_SEVERAL, expectationOf, type Together } from './expected-volume.ts'
import { insight, type Sources } from './insight.ts'
import { domainFields, domainsNamed, requestedDomains, textField } from './query-params.ts'

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
        'Length of the time range in hours. The series is by minute up to 2 hours, by 5 minutes up to 24, by hour up to 744, and by UTC day above that',
    }),
  ),
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
          'Oldest first, without gaps, from the creation of the domain up to now. Days have no expectation, ' +
          `nor do events without a named vendor. ${EXPECTED_OF_SEVERAL}`,
      },
    ),
    state: Nullable(OneOf(STATES)),
    learningUntil: Nullable(InstantSchema),
    changes: Type.Array(ChangeNameSchema, {
      maxItems: MAX_CHANGES,
      description:
        'Changes of the domain, or of all domains, within the series, oldest first; limited to the most recent',
    }),
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
    'anomaly at the sensitivity of the domain’s signals. `state` is the state of the last row.',
  path: '/insights/volume',
  isQuick: true,
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  async answer(sources, input, { principal, now }) {
    const domains = requestedDomains(sources, principal.orgId, input)
    const { grain, stepMs } = grainOf(input)
    const madeAt = Math.min(...domains.map(({ createdAt }) => createdAt))
    const buckets = bucketsOf(input, now, stepMs).filter(({ end }) => end > madeAt)
    const { vendor, event = null } = input
    const scope = { domainIds: domains.map(({ id }) => id), vendors: vendor === undefined ? [] : [vendor], event }
    const asked = { ...scope, vendor: vendor ?? null, stepMs }
    const [sums, chart, expected] = await Promise.all([
      sumsIn(buckets, countsIn(principal.orgId, scope), sources.history),
      chartOf(sources, asked, buckets),
      togetherOf(sources, principal.orgId, asked, buckets),
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
    return { grain, series, state: chart?.state ?? null, learningUntil: chart?.learningUntil ?? null, changes }
  },
})

type VolumeSeriesInput = Static<typeof Input>

const hoursOf = ({ hours = DEFAULT_HOURS }: VolumeSeriesInput) => hours

function grainOf(input: VolumeSeriesInput): (typeof GRAINS)[number] {
  return GRAINS.find(({ upToHours }) => hoursOf(input) <= upToHours) ?? GRAINS[3]
}

/** Returns the buckets that overlap the requested period. The last bucket is still incomplete. */
function bucketsOf(input: VolumeSeriesInput, now: Instant, stepMs: number): TimeBucket[] {
  const startOf = (instant: Instant) => Math.floor(instant / stepMs) * stepMs
  const first = startOf(now - hoursOf(input) * HOUR_MS)
  const count = (startOf(now) - first) / stepMs + 1
  return Array.from({ length: count }, (_, index) => ({
    start: first + index * stepMs,
    end: first + (index + 1) * stepMs,
  }))
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
