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

/** A vendor whose events a segment held, and when the last of them came in. */
export interface VendorSighting {
  domainId: string
  vendor: string
  lastReceivedAt: Instant
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
