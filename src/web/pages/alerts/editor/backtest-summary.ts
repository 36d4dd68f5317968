import type { AlertBacktest } from '#client/types.gen'
import { stepOf } from '../../../charts/band-layout.ts'

type Bucket = AlertBacktest['buckets'][number]

const DAYS_OF_WEEK = 7
/** Maximum number of bars; longer series are grouped. */
const MAX_BARS = 90

/** Number of buckets in which the alert would have fired. */
export const firedIn = (buckets: readonly Bucket[]): number => buckets.filter(({ wouldFire }) => wouldFire).length

/** Firings per week, rounded to one decimal below 10, otherwise to whole numbers. */
export function perWeek(fired: number, days: number): number {
  const exact = (fired * DAYS_OF_WEEK) / days
  return exact >= 10 ? Math.round(exact) : Math.round(exact * 10) / 10
}

/** The most sensitive setting with at most `mostPerWeek` firings; null when there is none. */
export function sensitivityFor(
  alternatives: readonly { sensitivity: number; fired: number }[],
  days: number,
  mostPerWeek: number,
): number | null {
  const fits = alternatives.filter(({ fired }) => (fired * DAYS_OF_WEEK) / days <= mostPerWeek)
  return fits.length === 0 ? null : Math.min(...fits.map(({ sensitivity }) => sensitivity))
}

/** Buckets as bars. If there are too many buckets, adjacent buckets share a bar. */
export function barsOf(buckets: readonly Bucket[]): { start: number; value: number; isBad: boolean }[] {
  const size = Math.ceil(buckets.length / MAX_BARS)
  const groups = Array.from({ length: Math.ceil(buckets.length / size) || 0 }, (_, index) =>
    buckets.slice(index * size, (index + 1) * size),
  )
  return groups.map((group) => ({
    start: group[0]?.start ?? 0,
    value: group.reduce((sum, { matchCount }) => sum + matchCount, 0),
    isBad: group.some(({ wouldFire }) => wouldFire),
  }))
}

/** An interval of consecutive buckets in which the alert would have fired. */
interface Run {
  from: number
  to: number
}

/** Intervals in which the alert would have fired without interruption, oldest first. */
export function runsOf(buckets: readonly Bucket[]): Run[] {
  const step = stepOf(buckets)
  const runs: Run[] = []
  for (const { start, matchCount } of buckets) {
    if (matchCount === 0) continue
    const last = runs.at(-1)
    // A 25-hour day is not an interruption.
    if (last && start - last.to <= step / 2) last.to = start + step
    else runs.push({ from: start, to: start + step })
  }
  return runs
}

/** The longest run, or the latest of several equally long runs; null when there is none. */
export function longestOf(runs: readonly Run[]): Run | null {
  const most = Math.max(...runs.map(({ from, to }) => to - from))
  return runs.findLast(({ from, to }) => to - from === most) ?? null
}
