import type { Instant } from '../core/clock.ts'
import type { SeriesState } from '../detector/detector.ts'

/** `auto`: followed, and its trouble opens issues; `muted`: followed, opens none; `off`: not followed. */
export const SIGNAL_MODES = ['auto', 'muted', 'off'] as const
export type SignalMode = (typeof SIGNAL_MODES)[number]

/** Of signals without a setting of their own, and of automatic alerts. */
export const SIGNAL_SENSITIVITY = 5

/** What somebody set for one signal: an event of a vendor in a domain. */
export interface SignalSetting {
  domainId: string
  vendor: string
  /** The events' name, which may be empty. */
  event: string
  mode: SignalMode
  /** 2 to 8; null: that of the alert. */
  sensitivity: number | null
}

/** How a signal stands. */
export interface Signal {
  domainId: string
  vendor: string
  event: string
  mode: SignalMode
  sensitivity: number
  /** Null when it isn't followed. */
  state: SeriesState | null
  /** While it is learning: until when, as far as that can be said. */
  learningUntil: Instant | null
  /** The last hour that ended: weighted events, and how many were expected; null where that isn't known. */
  observed: number | null
  expected: number | null
  /** Since when it has been silent: the end of the last minute with events. Null when it isn't silent. */
  silentSince: Instant | null
}
