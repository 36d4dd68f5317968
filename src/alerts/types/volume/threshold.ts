import { parser } from '../../../core/schema.ts'
import { countText, eventsText } from '../../../core/text.ts'
import { CountThresholdSchema } from '../../alert.ts'
import type { MeasuredType } from '../alert-type.ts'
import { ROWS_AT_ONCE } from '../past.ts'
import {
  refuseForVolume,
  type VolumeRow,
  volumeFinding,
  volumeIn,
  volumeQuery,
  volumeSource,
  watchedOf,
} from './count.ts'
import { volumePast } from './past.ts'

const readThreshold = parser(CountThresholdSchema)

/** Fires for each domain whose count of events in scope is too low or too high over a whole window. */
export const volumeThreshold: MeasuredType<VolumeRow> = {
  kind: 'volume_threshold',
  title: 'Volume threshold',
  partial: false,
  countsFirings: true,

  check(input) {
    refuseForVolume(input, 'op and count', readThreshold)
  },

  scanOf: volumeSource,

  counted: (_alert, window) => [window],

  measure(alerts, window) {
    return volumeQuery(alerts, window, null)
  },

  pastAtOnce: { rows: ROWS_AT_ONCE },
  past: (alert, windows, options) => volumePast(alert, windows, options, null),

  judge(alert, rows, window, domains) {
    const { op, count: limit } = readThreshold(alert.volume, 'volume')
    return watchedOf(alert, domains).flatMap((domain) => {
      const { count } = volumeIn(alert, rows, domain.id)
      const isTooLow = op === 'lte' && count <= limit && domain.createdAt <= window.from
      const isTooHigh = op === 'gte' && count >= limit
      if (!isTooLow && !isTooHigh) return []
      const expectation = `${op === 'lte' ? 'more' : 'fewer'} than ${countText(limit)}`
      const summary = `${eventsText(count)}, expected ${expectation}`
      return [volumeFinding(alert, domain.id, window, { summary, observed: count, expected: limit, expectation })]
    })
  },
}
