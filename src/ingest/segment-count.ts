import type { Instant } from '../core/clock.ts'

/** What one segment held, counted by origin; in a list, what was said last of a version stands last. */
export interface SegmentCount {
  orgId: string
  domainId: string
  host: string | null
  hour: Instant
  events: number
  lastReceivedAt: Instant
  /** Of the last production event that named one. */
  lastVersion: number | null
}
