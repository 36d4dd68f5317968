import { area, line } from 'd3-shape'
import { type Bar, barAt, type CountAxis, countAxis, px, ticksIn } from './scales.ts'
import { layOutSpecial, type SpecialBand, type SpecialPeriod } from './special-periods.ts'
import { bucketTicks, type TimeTick } from './time-ticks.ts'

/** One bucket of a series, as in the API. */
export interface BandPoint {
  /** Milliseconds since the epoch. */
  start: number
  /** Observed count; null if unknown. */
  observed: number | null
  /** Expected range. If only one bound is set, it is a limit. Both are null without an expectation. */
  low: number | null
  high: number | null
  /** Expected count; drawn where the range is unknown or open. */
  expected?: number | null
  /** True while the bucket is in progress, or if Tagwarden lost part of its data. */
  partial: boolean
}

/** A change marked on a chart. */
export interface ChartChange {
  id: string
  title: string
  occurredAt: number
}

/** Interval of an anomaly, in milliseconds since the epoch. */
export interface Span {
  from: number
  to: number
}

export interface BandInput {
  points: readonly BandPoint[]
  changes: readonly ChartChange[]
  /** Intervals to tint; by default, intervals with counts outside the range. */
  bad?: readonly Span[]
  /** Holidays and maintenance windows. */
  special?: readonly SpecialPeriod[]
  /** In pixels. */
  width: number
  height: number
  zone: string
}

/** A vertical line for one change, or for several that are close together. */
export interface ChangeMark {
  x: number
  /** Null if there is no room for a label. */
  label: string | null
  /** Number of changes. If it is 1, the label is the change's title. */
  count: number
  /** Side of the line on which the label is drawn. */
  side: 'left' | 'right'
  row: number
}

/** The layout, in pixels. */
export interface BandDrawing {
  axis: CountAxis
  /** Edges of the plot. */
  left: number
  right: number
  top: number
  bottom: number
  ticks: (TimeTick & { x: number })[]
  /** Centre of each bucket. */
  xs: number[]
  band: string
  edges: string[]
  /** Path of the expected counts; empty if there is a range everywhere or no expectation. */
  expected: string
  solid: string
  dashed: string
  /** Points that no line shows. */
  dots: { x: number; y: number; partial: boolean }[]
  /** Bars instead of all lines and points; null if anything is expected. */
  bars: (Bar & { index: number })[] | null
  special: SpecialBand[]
  bad: { x: number; width: number }[]
  first: { x: number; y: number; index: number } | null
  marks: ChangeMark[]
}

const RIGHT_PX = 12
const BOTTOM_PX = 24
/** Height of a row of change labels. */
export const LABEL_ROW_PX = 16
const LABEL_ROWS = 2

/** Returns the bucket length in milliseconds; 1 h for a single bucket. */
export function stepOf(points: readonly { start: number }[]): number {
  const [first, second] = points
  return first && second ? second.start - first.start : 3_600_000
}

/** Returns whether the count is outside the range; false for partial and unknown counts. */
export function isOutside({ observed, low, high, partial }: BandPoint): boolean {
  if (observed === null || partial) return false
  return (low !== null && observed < low) || (high !== null && observed > high)
}

/** Returns the intervals of consecutive buckets outside the range. */
export function badSpans(points: readonly BandPoint[]): Span[] {
  const step = stepOf(points)
  const spans: Span[] = []
  for (const point of points) {
    if (!isOutside(point)) continue
    const before = spans.at(-1)
    if (before?.to === point.start) before.to = point.start + step
    else spans.push({ from: point.start, to: point.start + step })
  }
  return spans
}

/** Computes the layout of a series; null without points. */
export function layOutBand({ points, changes, bad, special = [], width, height, zone }: BandInput): BandDrawing | null {
  const [first] = points
  const last = points.at(-1)
  if (!first || !last) return null
  const step = stepOf(points)
  const from = first.start
  const to = last.start + step
  const top = (changes.length > 0 ? LABEL_ROWS * LABEL_ROW_PX : 0) + 6
  const bottom = height - BOTTOM_PX
  const axis = countAxis(highestOf(points), top, bottom)
  const { left } = axis
  const right = Math.max(left + 1, width - RIGHT_PX)
  const x = (at: number) => left + ((at - from) / (to - from)) * (right - left)
  const xs = points.map(({ start }) => px(x(start + step / 2)))
  const spans = (bad ?? badSpans(points)).filter((span) => span.to > from && span.from < to)
  const [inside] = spans.slice(-1)
  return {
    axis,
    left,
    right,
    top,
    bottom,
    xs,
    ticks: bucketTicks(
      points.map(({ start }) => start),
      step,
      zone,
      ticksIn(right - left),
    ).map((tick) => ({
      ...tick,
      x: px(x(tick.at)),
    })),
    ...bandPaths(points, xs, axis, step),
    ...(hasExpectation(points)
      ? { ...observedPaths(points, xs, axis, step), bars: null }
      : { expected: '', solid: '', dashed: '', dots: [], bars: barsOf(points, x, axis, bottom) }),
    special: layOutSpecial(special, { from, to, left, right, x }),
    bad: spans.map((span) => {
      const start = Math.max(left, x(span.from))
      return { x: px(start), width: px(Math.min(right, x(span.to)) - start) }
    }),
    first: inside ? firstIn(inside, points, xs, axis, step) : null,
    marks: placeChanges(
      changes.filter(({ occurredAt }) => occurredAt >= from && occurredAt <= to),
      x,
      left,
      right,
    ),
  }
}

/**
 * Computes the layout of a sparkline. Includes the last complete point if that point is outside the range. Null without
 * points.
 */
export function layOutSpark(points: readonly BandPoint[], width: number, height: number) {
  const [first] = points
  const last = points.at(-1)
  if (!first || !last) return null
  const step = stepOf(points)
  const axis = countAxis(highestOf(points), 3, height - 3)
  const all = last.start - first.start + step
  const xs = points.map(({ start }) => px(3 + ((start - first.start + step / 2) / all) * (width - 6)))
  const { band } = bandPaths(points, xs, axis, step)
  const whole = points.findLastIndex(({ partial, observed }) => !partial && observed !== null)
  const point = points[whole]
  const wrong = point && isOutside(point) ? { x: xs[whole] ?? 0, y: px(axis.y(point.observed ?? 0)) } : null
  return { band, ...observedPaths(points, xs, axis, step), wrong }
}

/** Returns whether a range or a count above 0 is expected for any bucket. */
export const hasExpectation = (points: readonly BandPoint[]): boolean =>
  points.some(({ low, high, expected }) => low !== null || high !== null || (expected ?? 0) > 0)

function barsOf(points: readonly BandPoint[], x: (at: number) => number, axis: CountAxis, bottom: number) {
  const step = stepOf(points)
  return points.flatMap(({ start, observed }, index) => {
    const bar = observed ? barAt(x(start), x(start + step), axis.y(observed), bottom) : null
    return bar ? [{ ...bar, index }] : []
  })
}

const highestOf = (points: readonly BandPoint[]): number =>
  Math.max(
    ...points.map(({ observed, high, low, expected }) =>
      Math.max(observed ?? 0, high ?? Math.max(low ?? 0, expected ?? 0)),
    ),
  )

/** Runs of buckets with an expected count and without a range of two bounds, which says more. */
const expectedRuns = (points: readonly BandPoint[], step: number): number[][] =>
  runs(points, step, ({ expected, low, high }) => typeof expected === 'number' && (low === null || high === null))

/** Returns whether the expected counts are drawn as a line. */
export const showsExpected = (points: readonly BandPoint[]): boolean =>
  hasExpectation(points) && expectedRuns(points, stepOf(points)).some(({ length }) => length > 1)

function firstIn(
  { from, to }: Span,
  points: readonly BandPoint[],
  xs: readonly number[],
  axis: CountAxis,
  step: number,
) {
  const index = points.findIndex(({ start, observed }) => start + step > from && start < to && observed !== null)
  const point = points[index]
  return point ? { x: xs[index] ?? 0, y: px(axis.y(point.observed ?? 0)), index } : null
}

/** Returns the indexes of matching points, grouped into runs of consecutive points. A missing bucket ends a run. */
function runs(points: readonly BandPoint[], step: number, belongs: (point: BandPoint) => boolean): number[][] {
  const found: number[][] = []
  let run: number[] = []
  for (const [index, point] of points.entries()) {
    const before = points[index - 1]
    const isGap = before !== undefined && point.start - before.start > step * 1.5
    if (run.length > 0 && (isGap || !belongs(point))) {
      found.push(run)
      run = []
    }
    if (belongs(point)) run.push(index)
  }
  return run.length > 0 ? [...found, run] : found
}

function bandPaths(points: readonly BandPoint[], xs: readonly number[], axis: CountAxis, step: number) {
  const at = (index: number) => xs[index] ?? 0
  const low = (index: number) => px(axis.y(points[index]?.low ?? 0))
  const high = (index: number) => px(axis.y(points[index]?.high ?? 0))
  const shape = area<number>().x(at).y0(low).y1(high)
  const edgeOf = (which: 'low' | 'high') =>
    runs(points, step, (point) => point[which] !== null)
      .map(
        (run) =>
          line<number>()
            .x(at)
            .y(which === 'low' ? low : high)(run) ?? '',
      )
      .join('')
  // A single limit is drawn as a line.
  const ranges = runs(points, step, ({ low, high }) => low !== null && high !== null)
  const edges = [edgeOf('low'), edgeOf('high')].filter(Boolean)
  const middle = line<number>()
    .x(at)
    .y((index) => px(axis.y(points[index]?.expected ?? 0)))
  return {
    band: ranges.map((run) => shape(run) ?? '').join(''),
    edges,
    expected: expectedRuns(points, step)
      .map((run) => middle(run) ?? '')
      .join(''),
  }
}

/**
 * Paths of the counts: solid between complete buckets, dashed next to partial ones. Points that no line shows are dots,
 * and so is the last point if it is partial. A line needs two complete points; a partial one alone is no trend.
 */
function observedPaths(points: readonly BandPoint[], xs: readonly number[], axis: CountAxis, step: number) {
  const y = (index: number) => px(axis.y(points[index]?.observed ?? 0))
  const draw = line<number>()
    .x((index) => xs[index] ?? 0)
    .y(y)
  const isPartial = (index: number) => points[index]?.partial === true
  const solid = runs(points, step, ({ observed, partial }) => observed !== null && !partial)
  const dashed: number[][] = []
  for (const run of runs(points, step, ({ observed }) => observed !== null)) {
    if (run.filter((index) => !isPartial(index)).length < 2) continue
    for (const [place, index] of run.entries()) {
      const before = run[place - 1]
      if (before !== undefined && (isPartial(index) || isPartial(before))) dashed.push([before, index])
    }
  }
  const lines = [...solid.filter(({ length }) => length > 1), ...dashed]
  const drawn = new Set(lines.flat())
  const path = (all: number[][]) => all.map((run) => draw(run) ?? '').join('')
  return {
    solid: path(solid.filter(({ length }) => length > 1)),
    dashed: path(dashed),
    dots: points.flatMap(({ observed, partial }, index) => {
      const isShown = drawn.has(index) && !(partial && index === points.length - 1)
      return observed === null || isShown ? [] : [{ x: xs[index] ?? 0, y: y(index), partial }]
    }),
  }
}

const CLOSE_PX = 40
const TOGETHER = 3
const LABEL_LETTERS = 22
const PX_A_LETTER = 6.4

/** Truncates long titles. */
export const shortTitle = (title: string): string =>
  title.length <= LABEL_LETTERS ? title : `${title.slice(0, LABEL_LETTERS - 1).trimEnd()}…`

/** Places change marks. More than three marks within 40 px are merged; overlapping labels are omitted. */
export function placeChanges(
  changes: readonly ChartChange[],
  x: (at: number) => number,
  left: number,
  right: number,
): ChangeMark[] {
  const sorted = [...changes].sort((a, b) => a.occurredAt - b.occurredAt)
  const groups: ChartChange[][] = []
  for (const change of sorted) {
    const group = groups.at(-1)
    if (group?.[0] && x(change.occurredAt) - x(group[0].occurredAt) < CLOSE_PX) group.push(change)
    else groups.push([change])
  }
  // End of the last label in each row.
  const taken = Array.from({ length: LABEL_ROWS }, () => left)
  return groups
    .flatMap((group) => (group.length > TOGETHER ? [group] : group.map((change) => [change])))
    .map((group) => {
      const at = px(x(group[0]?.occurredAt ?? 0))
      const label = group.length === 1 ? shortTitle(group[0]?.title ?? '') : `${group.length}`
      const wide = (group.length === 1 ? label.length : LABEL_LETTERS / 2) * PX_A_LETTER + 8
      const isRight = at + wide <= right
      const [begin, end] = isRight ? [at, at + wide] : [at - wide, at]
      const row = taken.findIndex((until) => until <= begin)
      if (row >= 0) taken[row] = end
      return {
        x: at,
        count: group.length,
        row: Math.max(0, row),
        side: isRight ? 'right' : 'left',
        label: row < 0 ? null : label,
      } as const
    })
}
