import type { Instant } from '../../../core/clock.ts'

/** Violations of one alert in one domain. */
export interface ViolationRow {
  alertId: string
  domainId: string
  /** Sum of the events' weights, so not always whole. */
  occurrences: number
  firstAt: Instant
  lastAt: Instant
  /** `seq` of the newest violating event. */
  sampleSeq: number
  /** Null when there are several. */
  vendor: string | null
  event: string | null
  /** Most frequent first; null when no event has one. */
  hosts: string[] | null
}
