import type { Instant } from '../core/clock.ts'
import type { HostSighting, VendorSighting } from '../domains/record-sightings.ts'

/** Number of events in one segment, by origin. Lists of counts end with the latest version. */
export interface SegmentCount extends HostSighting {
  orgId: string
}

/** A domain's events whose names exceed the limit. They are counted as `(other)`. */
export interface FoldedNames {
  orgId: string
  domainId: string
  events: number
  lastReceivedAt: Instant
}

export interface SegmentContent {
  counts: readonly SegmentCount[]
  vendors: readonly VendorSighting[]
  /** Absent if there are none. */
  folded?: readonly FoldedNames[]
}

export const EMPTY_SEGMENT: SegmentContent = { counts: [], vendors: [] }
