import { formatNumber } from '../parts/format.ts'
import { words } from '../words.ts'
import type { BandPoint } from './band.ts'

/** What was expected in words: `380 to 520`, of a limit alone `10 or more`, without a range `about 450`; null for nothing. */
export function sayRange({ low, high, expected }: Pick<BandPoint, 'low' | 'high' | 'expected'>): string | null {
  if (low !== null && high !== null) return words.charts.between(formatNumber(low, 0), formatNumber(high, 0))
  if (low !== null) return words.charts.above(formatNumber(low, 0))
  if (high !== null) return words.charts.below(formatNumber(high, 0))
  return typeof expected === 'number' ? words.charts.about(formatNumber(expected, 0)) : null
}
