import type { AlertBacktest } from '#client/types.gen'

type Bucket = AlertBacktest['buckets'][number]

const DAYS_OF_WEEK = 7
/** More bars than this are drawn as fewer, wider ones. */
const MOST_BARS = 90

/** How often somebody would have been told. */
export const firedIn = (buckets: readonly Bucket[]): number => buckets.filter(({ wouldFire }) => wouldFire).length

/** So many a week, rounded as one says it: whole numbers from 10 on. */
export function perWeek(fired: number, days: number): number {
  const exact = (fired * DAYS_OF_WEEK) / days
  return exact >= 10 ? Math.round(exact) : Math.round(exact * 10) / 10
}

/** The most sensitive number that keeps to a limit; null when none does. */
export function sensitivityFor(
  alternatives: readonly { sensitivity: number; fired: number }[],
  days: number,
  mostPerWeek: number,
): number | null {
  const fits = alternatives.filter(({ fired }) => (fired * DAYS_OF_WEEK) / days <= mostPerWeek)
  return fits.length === 0 ? null : Math.min(...fits.map(({ sensitivity }) => sensitivity))
}

/** Buckets as bars, several in one where there are many. */
export function barsOf(buckets: readonly Bucket[]): { start: number; value: number; isBad: boolean }[] {
  const size = Math.ceil(buckets.length / MOST_BARS)
  const groups = Array.from({ length: Math.ceil(buckets.length / size) || 0 }, (_, index) =>
    buckets.slice(index * size, (index + 1) * size),
  )
  return groups.map((group) => ({
    start: group[0]?.start ?? 0,
    value: group.reduce((sum, { matchCount }) => sum + matchCount, 0),
    isBad: group.some(({ wouldFire }) => wouldFire),
  }))
}
