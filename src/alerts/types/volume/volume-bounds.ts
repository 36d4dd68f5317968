import { type Bounds, NO_BOUNDS } from '../evidence.ts'

/** A change is attributed to chance when both windows have fewer events than this. */
export const MIN_EVENTS = 20

/** Returns the bounds of a threshold. */
export function thresholdBounds({ op, count }: { op: 'lte' | 'gte'; count: number }): Bounds {
  return op === 'lte' ? { ...NO_BOUNDS, low: count } : { ...NO_BOUNDS, high: count }
}

/** Returns the bounds for a change. `before`: number of events in the previous window; null when unknown. */
export function changeBounds(
  { direction, percent }: { direction: 'increase' | 'decrease'; percent: number },
  before: number | null,
): Bounds {
  if (before === null || before === 0) return { ...NO_BOUNDS, expected: before }
  const change = (before * percent) / 100
  // Rounded to 6 decimals, so that an integer limit remains an integer despite floating-point errors.
  const exact = (limit: number) => Number(limit.toFixed(6))
  if (direction === 'increase') {
    return {
      expected: before,
      low: null,
      high: Math.max(Math.ceil(exact(before + change)), before < MIN_EVENTS ? MIN_EVENTS : 0),
    }
  }
  const low = Math.floor(exact(before - change))
  return { expected: before, low: low < 0 || before < MIN_EVENTS ? null : low, high: null }
}
