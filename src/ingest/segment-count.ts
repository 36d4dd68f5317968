import type { Instant } from '../core/clock.ts'

/** What one segment held, counted by origin. */
export interface SegmentCount {
  orgId: string
  domainId: string
  host: string | null
  hour: Instant
  events: number
  lastReceivedAt: Instant
  lastVersion: number | null
}
