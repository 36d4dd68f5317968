import { parser, type Static } from '../../../core/schema.ts'
import { countText, eventsText } from '../../../core/text.ts'
import { type Alert, PercentageChangeSchema } from '../../alert.ts'
import type { Window } from '../../finding.ts'
import { type PeriodWindow, parsePeriod, previousWindow } from '../../period.ts'
import type { MeasuredType } from '../alert-type.ts'
import { ROWS_AT_ONCE } from '../past.ts'
import {
  refuseForVolume,
  type Volume,
  type VolumeRow,
  volumeFinding,
  volumeIn,
  volumeQuery,
  volumeSource,
  watchedOf,
} from './count.ts'
import { volumePast } from './past.ts'

type PercentageChange = Static<typeof PercentageChangeSchema>

/** Where both windows have fewer events than this, a change is chance. */
export const MIN_EVENTS = 20

const readChange = parser(PercentageChangeSchema)

/**
 * Fires for each domain whose count of events in scope fell or rose by so many per cent from one window to the next.
 * Days and weeks are held against the calendar's one before, as they are: a day of 23 hours has fewer events.
 */
export const tagVolumeChange: MeasuredType<VolumeRow> = {
  kind: 'tag_volume_change',
  title: 'Change of volume',
  partial: false,
  countsFirings: true,

  check(input) {
    refuseForVolume(input, 'direction and percent', readChange)
  },

  // Windows of one length may follow on days of different lengths, by their time zones.
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
  // As exact as decimals can be: 130.52 times 12,500 is not a whole number to a computer.
  return change * 100 >= Number((percent * before).toFixed(6))
}

/** `60% fewer`. Rounded down, so that it does not say more than there is. */
function spellChange({ count, before }: Volume): string {
  const percent = Math.floor((Math.abs(count - before) / before) * 1000) / 10
  return `${countText(percent)}% ${count < before ? 'fewer' : 'more'}`
}
