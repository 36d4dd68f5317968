import { InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import type { RowNumbers, SeriesPoint } from './verdict-row.ts'

/** The fields of one bucket in every series. */
export const pointFields = {
  start: InstantSchema,
  observed: Int({ description: 'Weighted count, rounded to whole events' }),
  expected: Nullable(Type.Number({ description: 'Expected count; null if there is none, or it is not known yet' })),
  low: Nullable(
    Type.Number({
      description:
        'Lower limit. Thresholds and changes fire at this count or below; for an anomaly, counts from here to `high` are normal. ' +
        'Null if there is none, or it is not known yet',
    }),
  ),
  high: Nullable(
    Type.Number({
      description: 'Upper limit. Thresholds and changes fire at this count or above; otherwise like `low`',
    }),
  ),
  partial: Type.Boolean({
    description: 'True if the bucket has not ended, or is missing events because of a collection gap',
  }),
}

/** The values with which a count is compared. */
type BoundsOfCount = Omit<RowNumbers, 'observed'>

const PointObject = Type.Object(pointFields)
export type ChartPoint = Static<typeof PointObject>

/**
 * Returns the point rounded for display: events to whole numbers, and bounds to hundredths, so that the same whole
 * counts lie within the bounds.
 */
export function roundPoint({ start, observed, partial, ...bounds }: SeriesPoint): ChartPoint {
  return { start, observed: roundEvents(observed), ...roundBounds(bounds), partial }
}

/** Rounds as `roundPoint` does. */
export function roundBounds({ expected, low, high }: BoundsOfCount): BoundsOfCount {
  const hundredths = (count: number | null, round: (count: number) => number) => count && round(count * 100) / 100
  return {
    expected: hundredths(expected, Math.round),
    low: hundredths(low, Math.ceil),
    high: hundredths(high, Math.floor),
  }
}

/**
 * Rounds a sum of weights, which may be fractional because a sampled event represents several events. Rounds to 6
 * decimals first, because the last digits of a sum depend on the order of addition and must not affect the result.
 */
export const roundEvents = (weight: number) => Math.round(Number(weight.toFixed(6)))
