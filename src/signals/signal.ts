import type { Instant } from '../core/clock.ts'
import type { SeriesState } from '../detector/detector.ts'

/** `auto`: monitored, and deviations open issues; `muted`: monitored without opening issues; `off`: not monitored. */
export const SIGNAL_MODES = ['auto', 'muted', 'off'] as const
export type SignalMode = (typeof SIGNAL_MODES)[number]

/** The sensitivity of automatic alerts, and of signals without a setting. */
export const SIGNAL_SENSITIVITY = 5

/** The setting of one signal: of an event of a vendor in a domain. */
export interface SignalSetting {
  domainId: string
  vendor: string
  /** The event's name, which may be empty. */
  event: string
  mode: SignalMode
  /** 2 to 8; null: the alert's. */
  sensitivity: number | null
}

/** A signal with its current state. */
export interface Signal {
  domainId: string
  vendor: string
  event: string
  mode: SignalMode
  sensitivity: number
  /** Null when it is not monitored. */
  state: SeriesState | null
  /** While learning: the estimated end; else null. */
  learningUntil: Instant | null
  /** The last hour that ended: weighted events, and the baseline; null when unknown. */
  observed: number | null
  expected: number | null
  /** Start of the silence: the end of the last minute with events. Null when it is not silent. */
  silentSince: Instant | null
}
