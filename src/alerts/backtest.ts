import { SENSITIVITY } from '../contract/limits.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { specialFields } from '../maintenance/special-periods.ts'
import { type ChartPoint, pointFields, roundPoint } from '../signals/chart-point.ts'
import type { Alert } from './alert.ts'
import { RawAlertInputSchema } from './alert-input.ts'
import { parsePeriod } from './alert-period.ts'
import { wholeWindows } from './alert-windows.ts'
import { meetsRunWindow } from './allowed-run-hours.ts'
import { causesNotification, type Finding, type Window } from './finding.ts'
import { chartHistory, type HistoryDeps, judgeHistory } from './judge-past-events.ts'
import { describeByType, kindsWith } from './types/describe-alert-types.ts'
import { alertTypeOf, seriesTypes } from './types/index.ts'

/** Maximum number of rows in a series. If there are more, the newest are returned. */
const MAX_POINTS = 1000

export const AlertBacktestInputSchema = Closed(
  {
    rule: RawAlertInputSchema,
    days: Type.Optional(
      Type.Union([Type.Literal(7), Type.Literal(14), Type.Literal(30)], { default: 14, description: '7, 14 or 30' }),
    ),
    sensitivities: Type.Optional(
      Type.Array(Type.Number({ minimum: SENSITIVITY.min, maximum: SENSITIVITY.max }), {
        minItems: 1,
        maxItems: 13,
        description: `Additional sensitivities to try. Only for ${kindsWith(({ evaluated }) => evaluated === 'along a series')}`,
      }),
    ),
    series: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'If true, the evaluated series is also returned, with its expected values',
      }),
    ),
  },
  {
    $id: 'AlertBacktestInput',
    examples: [
      {
        rule: seriesTypes[0]?.form.example,
        days: 14,
        sensitivities: [3, 4, 5],
      },
    ],
  },
)

export const AlertBacktestSchema = Closed(
  {
    grain: OneOf(['hour', 'day']),
    method: OneOf(['sql', 'rollup', 'sampled']),
    coverage: Nullable(Closed({ sampled: Int(), total: Int() })),
    buckets: Type.Array(
      Closed({
        start: InstantSchema,
        matchCount: Int({ description: describeByType(({ messages }) => messages.unit.meaning) }),
        wouldFire: Type.Boolean({
          description: 'Whether a notification would have been sent, taking `runWindows` into account',
        }),
      }),
    ),
    exact: Type.Boolean({ description: 'False if only some of the events were evaluated' }),
    from: Type.Number({ ...InstantSchema, description: 'Start of the first evaluated window' }),
    alternatives: Type.Optional(
      Type.Array(
        Closed({
          sensitivity: Type.Number(),
          fired: Int({ description: 'Number of notifications that would have been sent' }),
        }),
        { description: 'One entry for each of `sensitivities`, in the same order' },
      ),
    ),
    series: Type.Optional(
      Nullable(
        Type.Array(Closed(pointFields), {
          maxItems: MAX_POINTS,
          description: 'The evaluated rows, oldest first, if requested. Null unless the alert monitors a single series',
        }),
      ),
    ),
    ...specialFields,
  },
  {
    $id: 'AlertBacktest',
    examples: [
      {
        grain: 'hour',
        method: 'sql',
        coverage: null,
        buckets: [{ start: 1_767_614_400_000, matchCount: 12, wouldFire: true }],
        exact: true,
        from: 1_767_614_400_000,
      },
    ],
  },
)
export type AlertBacktest = Static<typeof AlertBacktestSchema>

/**
 * Returns the results that the alert would have had in the last `days`, for whole windows that ended by `now`. Windows
 * are evaluated with the same code that the scheduler uses. A bucket is one window, or one hour if windows are shorter.
 * `sensitivities`: additional sensitivities to evaluate; throws `AppError('invalid')` for alert types without a
 * sensitivity.
 */
export async function backtest(
  alert: Alert,
  days: number,
  now: Instant,
  parts: HistoryDeps,
  sensitivities?: readonly number[],
): Promise<AlertBacktest> {
  const type = alertTypeOf(alert.alertType)
  const { countsFirings } = type.messages
  if (sensitivities && type.evaluated !== 'along a series') {
    throw new AppError('invalid', `sensitivities: not supported for a ${alert.alertType} rule`)
  }
  const period = parsePeriod(alert.period)
  const windows = wholeWindows(period, alert.timezone, now - days * DAY_MS, now)
  const { findings, alternatives, ...how } = await judgeHistory(alert, windows, parts, sensitivities)
  const notified = (found: readonly Finding[], window: Window) =>
    meetsRunWindow(alert.runWindows, alert.timezone, window) ? found.filter(causesNotification) : []
  const judged = windows.map((window, index) => {
    const found = findings[index] ?? []
    const matchCount = countsFirings ? found.length : found.reduce((sum, { occurrences }) => sum + occurrences, 0)
    return { start: window.from, matchCount, wouldFire: notified(found, window).length > 0 }
  })
  return {
    grain: period.lengthMs < DAY_MS ? 'hour' : 'day',
    ...how,
    buckets: period.lengthMs < HOUR_MS ? byHour(judged) : judged,
    from: windows[0]?.from ?? now,
    ...(sensitivities && {
      alternatives: sensitivities.map((sensitivity, index) => ({
        sensitivity,
        fired: windows.reduce((sum, window, at) => sum + notified(alternatives[index]?.[at] ?? [], window).length, 0),
      })),
    }),
  }
}

/**
 * Returns the rows of the last `days` with their expected values, including the current row; at most the newest
 * `MAX_POINTS`. Null for alerts that monitor no series or more than one.
 */
export async function backtestSeries(
  alert: Alert,
  days: number,
  now: Instant,
  parts: HistoryDeps,
): Promise<ChartPoint[] | null> {
  const points = await chartHistory(alert, { from: now - days * DAY_MS, to: now }, parts)
  return points?.slice(-MAX_POINTS).map(roundPoint) ?? null
}

type Bucket = AlertBacktest['buckets'][number]

function byHour(buckets: readonly Bucket[]): Bucket[] {
  const hours = Map.groupBy(buckets, ({ start }) => Math.floor(start / HOUR_MS) * HOUR_MS)
  return [...hours].map(([start, group]) => ({
    start,
    matchCount: group.reduce((sum, { matchCount }) => sum + matchCount, 0),
    wouldFire: group.some(({ wouldFire }) => wouldFire),
  }))
}
