import { quantile } from '../tools/percentiles.ts'

/** A value measured at a time in ms. */
export type Point = readonly [at: number, value: number]

/** Change of a value per hour. `low` and `high` are the limits of the 95 % confidence interval. */
export interface Trend {
  perHour: number
  low: number
  high: number
}

const HOUR_MS = 3_600_000
const RESAMPLES = 400

/**
 * Returns the slope as estimated by Theil and Sen: the median of the slopes between all pairs of points, which ignores
 * single peaks (https://doi.org/10.1080/01621459.1968.10480934). Consecutive samples of memory resemble each other, so
 * the interval comes from a moving-block bootstrap of the residuals (https://doi.org/10.1214/aos/1176347265): intervals
 * that assume independent samples would be too narrow. NaN with fewer than three points.
 */
export function trendOf(points: readonly Point[]): Trend {
  const perMs = slopeOf(points)
  const perHour = perMs * HOUR_MS
  if (Number.isNaN(perMs)) return { perHour, low: Number.NaN, high: Number.NaN }
  const fitted = points.map(([at]) => perMs * at)
  const residuals = points.map(([, value], index) => value - (fitted[index] ?? 0))
  const block = Math.max(2, Math.round(Math.sqrt(points.length)))
  const random = randomFrom(1)
  const slopes = Array.from({ length: RESAMPLES }, () => {
    const drawn: number[] = []
    while (drawn.length < points.length) {
      const from = Math.floor(random() * (points.length - block + 1))
      drawn.push(...residuals.slice(from, from + block))
    }
    return slopeOf(points.map(([at], index): Point => [at, (fitted[index] ?? 0) + (drawn[index] ?? 0)])) * HOUR_MS
  })
  return { perHour, low: quantile(slopes, 0.025), high: quantile(slopes, 0.975) }
}

function slopeOf(points: readonly Point[]): number {
  if (points.length < 3) return Number.NaN
  const slopes = points.flatMap(([at, value], index) =>
    points.slice(index + 1).flatMap(([later, other]) => (later > at ? [(other - value) / (later - at)] : [])),
  )
  const sorted = Float64Array.from(slopes).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** Returns a generator of numbers from 0 to 1 (mulberry32), so that the same points give the same interval. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
