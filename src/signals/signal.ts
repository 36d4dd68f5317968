import type { SignalMode } from '../contract/statuses.ts'
import type { Instant } from '../core/clock.ts'
import type { SeriesState } from '../detector/detector.ts'

/** The sensitivity of automatic alerts, and of signals without a setting. */
export const SIGNAL_SENSITIVITY = 5

/** The setting of one signal: one event name of one vendor in one domain. */
export interface SignalSetting {
  domainId: string
  vendor: string
  /** The event name, which may be empty. */
  event: string
  mode: SignalMode
  /** 2 to 8; null to use the alert's sensitivity. */
  sensitivity: number | null
}

/** A signal with its current state. */
export interface Signal {
  domainId: string
  vendor: string
  event: string
  mode: SignalMode
  sensitivity: number
  /** Null when the signal is not monitored. */
  state: SeriesState | null
  /** Estimated end of learning; null when the signal is not learning. */
  learningUntil: Instant | null
  /** Weighted events and baseline in the last hour that ended; null when unknown. */
  observed: number | null
  expected: number | null
  /** Start of the silence: the end of the last minute with events. Null when the signal is not silent. */
  silentSince: Instant | null
}
