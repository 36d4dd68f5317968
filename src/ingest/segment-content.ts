import type { Instant } from '../core/clock.ts'
import type { HostSighting, VendorSighting } from '../domains/sightings.ts'

/** What one segment held, counted by origin; in a list, the latest version comes last. */
export interface SegmentCount extends HostSighting {
  orgId: string
}

/** Events of a domain whose names exceed the limit, so that counts keep them as `(other)`. */
export interface FoldedNames {
  orgId: string
  domainId: string
  events: number
  lastReceivedAt: Instant
}

export interface SegmentContent {
  counts: readonly SegmentCount[]
  vendors: readonly VendorSighting[]
  /** Left out when there are none. */
  folded?: readonly FoldedNames[]
}

export const EMPTY_SEGMENT: SegmentContent = { counts: [], vendors: [] }
