import { Closed, OneOf, parser, type Static, Type } from '../../../core/schema.ts'
import { countText, eventsText } from '../../../core/text.ts'
import type { Alert } from '../../alert.ts'
import type { Window } from '../../finding.ts'
import { type PeriodWindow, parsePeriod, previousWindow } from '../../period.ts'
import type { MeasuredType } from '../alert-type.ts'
import { ROWS_AT_ONCE } from '../history-query.ts'
import { changeLimits, MIN_EVENTS } from './volume-bounds.ts'
import {
  countedEvent,
  refuseForVolume,
  type Volume,
  type VolumeRow,
  volumeConfiguration,
  volumeFinding,
  volumeIn,
  volumeQuery,
  volumeSource,
  volumeWords,
  watchedOf,
  windowUnit,
} from './volume-count.ts'
import { LOOKS_AT, OWN_WINDOWS, volumeEvidence, volumeScope } from './volume-evidence.ts'
import { volumePast } from './volume-history.ts'

export const PercentageChangeSchema = Closed(
  {
    direction: OneOf(['increase', 'decrease'], {
      title: 'Fires for',
      description: 'Which way is wrong',
      examples: ['decrease'],
    }),
    percent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 10_000,
      title: 'By at least',
      'x-unit': '%',
      description: 'By how many per cent of the window before, at least',
      examples: [50],
    }),
    event: countedEvent,
  },
  {
    description: 'For `tag_volume_change`: the count against that of the period before',
    examples: [{ direction: 'decrease', percent: 50, event: 'purchase' }],
  },
)
type PercentageChange = Static<typeof PercentageChangeSchema>

const readChange = parser(PercentageChangeSchema)

/**
 * Fires for each domain whose count of events in scope fell or rose by so many per cent from one window to the next.
 * Days and weeks are compared with the previous calendar day or week without correction: a day of 23 hours has fewer
 * events.
 */
export const tagVolumeChange: MeasuredType<VolumeRow> = {
  kind: 'tag_volume_change',
  title: 'Volume change',
  looksAt: LOOKS_AT,
  guide: {
    fires: "when a period's count fell or rose against the period before",
    needs: '`volume`: `{"direction": "decrease", "percent": 50}`',
  },
  configuration: volumeConfiguration(PercentageChangeSchema),
  partial: false,
  countsFirings: true,
  unit: windowUnit,
  words: volumeWords,
  evidence: volumeEvidence(OWN_WINDOWS, volumeScope, ({ volume }) => {
    const change = readChange(volume, 'volume')
    return { isRelative: true, boundsOf: (before) => changeLimits(change, before) }
  }),

  example: {
    name: 'Meta Pixel sends half as much again',
    domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
    alertType: 'tag_volume_change',
    severity: 'medium',
    vendors: ['Meta Pixel'],
    volume: { direction: 'increase', percent: 50 },
    period: '1d',
    channels: [{ type: 'email', target: 'ann@example.com' }],
  },

  check: refuseForVolume,
  scope: volumeScope,
  isRise: ({ volume }) => readChange(volume, 'volume').direction === 'increase',

  // Windows of the same length may follow windows of different lengths, depending on their time zones.
  scanOf: (alert, window) => `${volumeSource(alert)} ${beforeOf(alert, window).start}`,

  counted(alert, window) {
    const { start, end } = beforeOf(alert, window)
    return [{ from: start, to: end }, window]
  },

  measure(alerts, window) {
    const [first] = alerts
    return volumeQuery(alerts, window, first ? beforeOf(first, window) : null)
  },

  pastAtOnce: { rows: ROWS_AT_ONCE },

  past(alert, windows, options) {
    const [first] = windows
    return volumePast(alert, windows, options, first ? beforeOf(alert, first) : null)
  },

  judge(alert, rows, window, domains) {
    const change = readChange(alert.volume, 'volume')
    return watchedOf(alert, domains).flatMap((domain) => {
      const volume = volumeIn(alert, rows, domain.id)
      if (!isFiring(change, volume)) return []
      const { count, before } = volume
      const summary = `${eventsText(count)}, ${spellChange(volume)} than the ${countText(before)} of the window before`
      return [volumeFinding(alert, domain.id, window, { summary, observed: count, expected: before })]
    })
  },
}

/** The window before one of the alert's own. */
function beforeOf({ period, timezone }: Alert, { from, to }: Window): PeriodWindow {
  return previousWindow(parsePeriod(period), timezone, { start: from, end: to })
}

function isFiring({ direction, percent }: PercentageChange, { count, before }: Volume): boolean {
  if (before === 0 || Math.max(count, before) < MIN_EVENTS) return false
  const change = direction === 'increase' ? count - before : before - count
  // Rounded to 6 decimals: in floating point 130.52 times 12,500 is not a whole number.
  return change * 100 >= Number((percent * before).toFixed(6))
}

/** Returns `60% fewer`. Rounded down, so that it never overstates. */
function spellChange({ count, before }: Volume): string {
  const percent = Math.floor((Math.abs(count - before) / before) * 1000) / 10
  return `${countText(percent)}% ${count < before ? 'fewer' : 'more'}`
}
