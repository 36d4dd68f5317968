import { Closed, Int, OneOf, parser } from '../../../core/schema.ts'
import { countText, eventsText } from '../../../core/text.ts'
import type { WindowType } from '../alert-type.ts'
import { MAX_ROWS_AT_ONCE, UNLIMITED } from '../history-query.ts'
import { thresholdBounds } from './volume-bounds.ts'
import {
  CountedEventSchema,
  rejectForVolume,
  type VolumeRow,
  volumeConfiguration,
  volumeFinding,
  volumeIn,
  volumeMessages,
  volumeQuery,
  volumeSource,
  watchedOf,
} from './volume-count.ts'
import { EVENTS_PER_WINDOW, JUDGES_COUNTS, volumeEvidence, volumeScope } from './volume-evidence.ts'
import { volumeHistoryQuery } from './volume-history.ts'

const CountThresholdSchema = Closed(
  {
    op: OneOf(['lte', 'gte'], {
      title: 'Fires at',
      description: '`lte`: fires at this count or below. `gte`: fires at this count or above',
      examples: ['lte'],
    }),
    count: Int({
      minimum: 0,
      maximum: 100_000_000,
      'x-unit': 'events',
      description: 'Number of events per period',
      examples: [20],
    }),
    event: CountedEventSchema,
  },
  {
    description: 'For `volume_threshold`: the count is compared with a fixed number',
    examples: [{ op: 'lte', count: 20, event: 'purchase' }],
  },
)

const readThreshold = parser(CountThresholdSchema)

/** Fires for each domain whose count of events in scope is too low or too high over a whole window. */
export const volumeThreshold: WindowType<VolumeRow> = {
  kind: 'volume_threshold',
  evaluated: 'by window',
  form: {
    title: 'Volume threshold',
    judges: JUDGES_COUNTS,
    guide: {
      fires: "when a period's count is too low or too high",
      needs: '`volume`: `{"op": "lte", "count": 20}` or `gte`',
    },
    notes: {},
    configuration: volumeConfiguration(CountThresholdSchema),
    example: {
      name: 'Fewer than 20 purchases a day',
      domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
      alertType: 'volume_threshold',
      severity: 'high',
      vendors: ['Google Analytics 4'],
      volume: { op: 'lte', count: 19, event: 'purchase' },
      period: '1d',
      timezone: 'Europe/Berlin',
      channels: [{ type: 'email', target: 'ann@example.com' }],
    },

    check: rejectForVolume,
  },

  messages: { ...volumeMessages, isRise: ({ volume }) => readThreshold(volume, 'volume').op === 'gte' },
  evidence: volumeEvidence(EVENTS_PER_WINDOW, volumeScope, ({ volume }) => {
    const limits = thresholdBounds(readThreshold(volume, 'volume'))
    return { boundsOf: () => limits }
  }),

  partial: false,
  settlingMs: 0,
  ownConditions: () => [],
  scope: volumeScope,
  scanKey: volumeSource,

  countedRanges: (_alert, window) => [window],

  measure(alerts, window) {
    return volumeQuery(alerts, window, null)
  },

  history: {
    limits: { events: UNLIMITED, windows: UNLIMITED, rows: MAX_ROWS_AT_ONCE },
    query: (alert, windows, options) => volumeHistoryQuery(alert, windows, options, null),
  },

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
