import { Closed, OneOf, parser, type Static, Type } from '../../../core/schema.ts'
import { countText, eventsText } from '../../../core/text.ts'
import type { Alert } from '../../alert.ts'
import { type PeriodWindow, parsePeriod, previousWindow } from '../../alert-period.ts'
import type { Window } from '../../finding.ts'
import type { WindowType } from '../alert-type.ts'
import { MAX_ROWS_AT_ONCE, UNLIMITED } from '../history-query.ts'
import { changeBounds, MIN_EVENTS } from './volume-bounds.ts'
import {
  CountedEventSchema,
  rejectForVolume,
  type Volume,
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

const PercentageChangeSchema = Closed(
  {
    direction: OneOf(['increase', 'decrease'], {
      title: 'Fires for',
      description: 'Direction of the change that fires',
      examples: ['decrease'],
    }),
    percent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 10_000,
      title: 'By at least',
      'x-unit': '%',
      description: 'Minimum change, in percent of the previous window',
      examples: [50],
    }),
    event: CountedEventSchema,
  },
  {
    description: 'For `tag_volume_change`: the count is compared with that of the previous period',
    examples: [{ direction: 'decrease', percent: 50, event: 'purchase' }],
  },
)
type PercentageChange = Static<typeof PercentageChangeSchema>

const readChange = parser(PercentageChangeSchema)

/**
 * Fires for each domain whose count of events in scope fell or rose by at least this percentage from one window to the
 * next. Days and weeks are compared with the previous calendar day or week without correction, so a day of 23 hours has
 * fewer events.
 */
export const tagVolumeChange: WindowType<VolumeRow> = {
  kind: 'tag_volume_change',
  evaluated: 'by window',
  form: {
    title: 'Volume change',
    judges: JUDGES_COUNTS,
    guide: {
      fires: "when a period's count falls or rises compared with the previous period",
      needs: '`volume`: `{"direction": "decrease", "percent": 50}`',
    },
    notes: {},
    configuration: volumeConfiguration(PercentageChangeSchema),
    example: {
      name: 'Meta Pixel sends 50% more events',
      domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
      alertType: 'tag_volume_change',
      severity: 'medium',
      vendors: ['Meta Pixel'],
      volume: { direction: 'increase', percent: 50 },
      period: '1d',
      channels: [{ type: 'email', target: 'ann@example.com' }],
    },

    check: rejectForVolume,
  },

  messages: { ...volumeMessages, isRise: ({ volume }) => readChange(volume, 'volume').direction === 'increase' },
  evidence: volumeEvidence(EVENTS_PER_WINDOW, volumeScope, ({ volume }) => {
    const change = readChange(volume, 'volume')
    return { isRelative: true, boundsOf: (before) => changeBounds(change, before) }
  }),

  partial: false,
  settlingMs: 0,
  ownConditions: () => [],
  scope: volumeScope,
  // Windows of the same length may follow windows of different lengths, depending on the time zone.
  scanKey: (alert, window) => `${volumeSource(alert)} ${windowBefore(alert, window).start}`,

  countedRanges(alert, window) {
    const { start, end } = windowBefore(alert, window)
    return [{ from: start, to: end }, window]
  },

  measure(alerts, window) {
    const [first] = alerts
    return volumeQuery(alerts, window, first ? windowBefore(first, window) : null)
  },

  history: {
    limits: { events: UNLIMITED, windows: UNLIMITED, rows: MAX_ROWS_AT_ONCE },
    query(alert, windows, options) {
      const [first] = windows
      return volumeHistoryQuery(alert, windows, options, first ? windowBefore(alert, first) : null)
    },
  },

  judge(alert, rows, window, domains) {
    const change = readChange(alert.volume, 'volume')
    return watchedOf(alert, domains).flatMap((domain) => {
      const volume = volumeIn(alert, rows, domain.id)
      if (!isFiring(change, volume)) return []
      const { count, before } = volume
      const summary = `${eventsText(count)}, ${changeText(volume)} than the ${countText(before)} in the previous window`
      return [volumeFinding(alert, domain.id, window, { summary, observed: count, expected: before })]
    })
  },
}

/** Returns the previous window of an alert. */
function windowBefore({ period, timezone }: Alert, { from, to }: Window): PeriodWindow {
  return previousWindow(parsePeriod(period), timezone, { start: from, end: to })
}

function isFiring({ direction, percent }: PercentageChange, { count, before }: Volume): boolean {
  if (before === 0 || Math.max(count, before) < MIN_EVENTS) return false
  const change = direction === 'increase' ? count - before : before - count
  // Rounded to 6 decimals, because 130.52 times 12,500 is not an integer in floating point.
  return change * 100 >= Number((percent * before).toFixed(6))
}

/** Returns a phrase such as `60% fewer`. The percentage is rounded down, so that it never overstates the change. */
function changeText({ count, before }: Volume): string {
  const percent = Math.floor((Math.abs(count - before) / before) * 1000) / 10
  return `${countText(percent)}% ${count < before ? 'fewer' : 'more'}`
}
