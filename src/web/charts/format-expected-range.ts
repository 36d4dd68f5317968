import { formatNumber } from '../components/format.ts'
import { messages } from '../messages.ts'
import type { BandPoint } from './band-layout.ts'

/**
 * Formats the expectation: `380 to 520`, `10 or more` for a limit, `about 450` without a range; null without an
 * expectation.
 */
export function formatRange({ low, high, expected }: Pick<BandPoint, 'low' | 'high' | 'expected'>): string | null {
  if (low !== null && high !== null) return messages.charts.between(formatNumber(low, 0), formatNumber(high, 0))
  if (low !== null) return messages.charts.above(formatNumber(low, 0))
  if (high !== null) return messages.charts.below(formatNumber(high, 0))
  return typeof expected === 'number' ? messages.charts.about(formatNumber(expected, 0)) : null
}
