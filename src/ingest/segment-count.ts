import type { Instant } from '../core/clock.ts'
import type { HostSighting, VendorSighting } from '../domains/sightings.ts'

/** What one segment held, counted by origin; in a list, what was said last of a version stands last. */
export interface SegmentCount extends HostSighting {
  orgId: string
}

/** Events of a domain whose names counts don't keep. */
export interface FoldedNames {
  orgId: string
  domainId: string
  events: number
  lastReceivedAt: Instant
}

export interface SegmentContent {
  counts: readonly SegmentCount[]
  vendors: readonly VendorSighting[]
  /** Absent: none. */
  folded?: readonly FoldedNames[]
}

export const EMPTY_SEGMENT: SegmentContent = { counts: [], vendors: [] }
