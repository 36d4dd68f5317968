import { type Bounds, NO_BOUNDS } from '../evidence.ts'

/** Where both windows have fewer events than this, a change is chance. */
export const MIN_EVENTS = 20

/** What a threshold holds a window against. */
export function thresholdLimits({ op, count }: { op: 'lte' | 'gte'; count: number }): Bounds {
  return op === 'lte' ? { ...NO_BOUNDS, low: count } : { ...NO_BOUNDS, high: count }
}

/** What a change holds a window against: whole events in the window before, null when that is not known. */
export function changeLimits(
  { direction, percent }: { direction: 'increase' | 'decrease'; percent: number },
  before: number | null,
): Bounds {
  if (before === null || before === 0) return { ...NO_BOUNDS, expected: before }
  const change = (before * percent) / 100
  // As exact as decimals can be, so that a limit that is a whole number stays one.
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
