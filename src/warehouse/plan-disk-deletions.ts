import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import type { Piece } from './warehouse.ts'

/** Parts that are deleted together. They cover one day, or one hour of the current day. */
export interface Deletion {
  /** Null for parts with data of several organizations. */
  orgId: string | null
  what: 'day' | 'hour' | 'counts'
  /** The start of the day or hour. */
  at: Instant
  bytes: number
  /** Names of the deleted parts. */
  parts: string[]
}

export interface DiskPlan {
  /** In the order in which the files are deleted. */
  drops: Deletion[]
  /**
   * Organizations that exceed their fair share and have no more data to delete, sorted. Empty unless the budget is
   * exceeded.
   */
  over: string[]
}

/** Disk usage of an organization. */
interface Holding {
  orgId: string
  bytes: number
  /** Bytes of counts. */
  countBytes: number
  /** Possible deletions, in order. */
  drops: Deletion[]
}

/**
 * Plans deletions until all data fits the budget. Each organization gets a max-min fair share. While the total exceeds
 * the budget, the organization furthest above its share loses its oldest data. Events and pages are deleted by day, or
 * by hour for the current day. Counts are small and required by alerts, so they are deleted by day, and only while they
 * alone exceed the share. The current hour, the current day's counts and data within the share are never deleted.
 *
 * Parts with data of several organizations can't be divided. Whole days of them are deleted first, oldest first. Their
 * counts are not deleted.
 */
export function planDeletions(pieces: readonly Piece[], budgetBytes: number, now: Instant): DiskPlan {
  const shared = sharedParts(pieces)
  const drops = dropShared(pieces, { shared, excess: sumOf(pieces) - budgetBytes, now })
  const gone = new Set(drops.flatMap(({ parts }) => parts))
  const kept = pieces.flatMap((piece) => {
    if (piece.part === null || !shared.has(piece.part)) return [piece]
    return gone.has(piece.part) ? [] : [{ ...piece, part: null }]
  })
  const holdings = [...Map.groupBy(kept, ({ orgId }) => orgId)]
    .map(([orgId, own]) => holdingOf(orgId, own, now))
    .sort((a, b) => (a.orgId < b.orgId ? -1 : 1))
  let left = sumOf(holdings) - budgetBytes
  let share = shareOf(holdings, budgetBytes)
  while (left > 0) {
    const most = mostOver(holdings, share)
    const drop = most?.drops.shift()
    if (!most || !drop) break
    drops.push(drop)
    most.bytes -= drop.bytes
    if (drop.what === 'counts') most.countBytes -= drop.bytes
    left -= drop.bytes
    // The fair share stays the same while this organization still exceeds it.
    if (most.bytes < share) share = shareOf(holdings, budgetBytes)
  }
  const over = left > 0 ? holdings.filter(({ bytes }) => bytes > share) : []
  return { drops, over: over.map(({ orgId }) => orgId) }
}

/** Returns the names of parts with data of several organizations. */
function sharedParts(pieces: readonly Piece[]): Set<string> {
  const owners = new Map<string, string>()
  const shared = new Set<string>()
  for (const { part, orgId } of pieces) {
    if (part === null) continue
    if ((owners.get(part) ?? orgId) === orgId) owners.set(part, orgId)
    else shared.add(part)
  }
  return shared
}

/** Deletes shared parts until `excess` bytes are deleted. */
function dropShared(
  pieces: readonly Piece[],
  { shared, excess, now }: { shared: ReadonlySet<string>; excess: number; now: Instant },
): Deletion[] {
  const days = new Map<Instant, { bytes: number; parts: Set<string> }>()
  for (const { kind, part, from, bytes } of pieces) {
    if (part === null || !shared.has(part)) continue
    const when = dropOf(kind, from, now)
    if (when?.what !== 'day') continue
    const day = days.get(when.at) ?? { bytes: 0, parts: new Set() }
    day.bytes += bytes
    day.parts.add(part)
    days.set(when.at, day)
  }
  const drops: Deletion[] = []
  let left = excess
  for (const [at, { bytes, parts }] of [...days].sort(([a], [b]) => a - b)) {
    if (left <= 0) break
    drops.push({ orgId: null, what: 'day', at, bytes, parts: [...parts].sort() })
    left -= bytes
  }
  return drops
}

/**
 * Max-min fair share: the highest limit per organization at which everything fits the budget. Infinite if everything
 * already fits.
 */
export function shareOf(uses: readonly { bytes: number }[], budgetBytes: number): number {
  let left = budgetBytes
  const sorted = uses.map(({ bytes }) => bytes).sort((a, b) => a - b)
  for (const [index, bytes] of sorted.entries()) {
    const part = left / (sorted.length - index)
    if (bytes > part) return part
    left -= bytes
  }
  return Number.POSITIVE_INFINITY
}

function mostOver(holdings: readonly Holding[], share: number): Holding | null {
  let most: Holding | null = null
  for (const holding of holdings) {
    if (holding.bytes > share && canLose(holding, share) && holding.bytes > (most?.bytes ?? 0)) most = holding
  }
  return most
}

function canLose({ drops: [next], countBytes }: Holding, share: number): boolean {
  return next !== undefined && (next.what !== 'counts' || countBytes > share)
}

function holdingOf(orgId: string, pieces: readonly Piece[], now: Instant): Holding {
  const counts = pieces.filter(({ kind }) => kind === 'counts')
  return { orgId, bytes: sumOf(pieces), countBytes: sumOf(counts), drops: dropsOf(orgId, pieces, now) }
}

const ORDER: readonly Deletion['what'][] = ['day', 'hour', 'counts']

function dropsOf(orgId: string, pieces: readonly Piece[], now: Instant): Deletion[] {
  const drops = new Map<string, Deletion>()
  for (const { kind, from, bytes, part } of pieces) {
    const when = part === null ? null : dropOf(kind, from, now)
    if (part === null || when === null) continue
    const name = `${when.what} ${when.at}`
    const drop = drops.get(name) ?? { orgId, ...when, bytes: 0, parts: [] }
    drop.bytes += bytes
    drop.parts.push(part)
    drops.set(name, drop)
  }
  return [...drops.values()]
    .map((drop) => ({ ...drop, parts: drop.parts.sort() }))
    .sort((a, b) => ORDER.indexOf(a.what) - ORDER.indexOf(b.what) || a.at - b.at)
}

/** The deletion to which a file belongs; null if the file is kept. */
function dropOf(kind: Piece['kind'], from: Instant, now: Instant): Pick<Deletion, 'what' | 'at'> | null {
  const day = startOf(from, DAY_MS)
  const isOfToday = day >= startOf(now, DAY_MS)
  if (kind === 'counts') return isOfToday ? null : { what: 'counts', at: day }
  if (kind === 'spool') return null
  if (!isOfToday) return { what: 'day', at: day }
  const hour = startOf(from, HOUR_MS)
  return hour < startOf(now, HOUR_MS) ? { what: 'hour', at: hour } : null
}

const sumOf = (all: readonly { bytes: number }[]) => all.reduce((sum, { bytes }) => sum + bytes, 0)

const startOf = (instant: Instant, lengthMs: number) => Math.floor(instant / lengthMs) * lengthMs

/** Stored data of an organization. */
export interface StorageUse {
  diskBytes: number
  /** The part of `diskBytes` on a database server. */
  serverBytes: number
  /** Time when the oldest event was received; null without events. */
  oldestEventAt: Instant | null
}

export function useOf(pieces: readonly Piece[], orgId: string): StorageUse {
  const own = pieces.filter((piece) => piece.orgId === orgId)
  const events = own.filter(({ kind }) => kind === 'events' || kind === 'spool')
  const oldest = events.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY)
  return {
    diskBytes: Math.round(sumOf(own)),
    serverBytes: Math.round(sumOf(own.filter(({ server }) => server !== undefined))),
    oldestEventAt: events.length > 0 ? oldest : null,
  }
}
