import type { SessionRow } from './comparison-tables.ts'
import { nameKey } from './suspected-effect.ts'
import type { Expectation } from './suspected-volume-effects.ts'

/** Minimum number of sessions of each version in a block of time. Blocks with fewer are not compared. */
const MIN_SESSIONS = 3
/**
 * Minimum number of independent events expected for the new version. With fewer, the new version is compared with the
 * time before the change.
 */
const MIN_EXPECTED = 8
/** Minimum share of events with a version, for each event name. */
const MOSTLY = 0.8
const LEAST_SPREAD = 0.05

/**
 * Returns the number of events expected for the new version, by event name, when versions are concurrent. The
 * expectation is based on sessions of the old version that began in the same block of time. Names with too little data
 * are omitted.
 */
export function concurrentExpectations(rows: readonly SessionRow[]): Expectation[] {
  const began = rows.filter(({ block }) => block >= 0)
  const begun = (side: 'old' | 'new', block: number) =>
    began.reduce((sum, row) => sum + (row.side === side && row.block === block ? row.firsts : 0), 0)
  const blocks = [...new Set(began.map(({ block }) => block))].flatMap((block) => {
    const [old, fresh] = [begun('old', block), begun('new', block)]
    return old >= MIN_SESSIONS && fresh >= MIN_SESSIONS ? [{ block, ratio: fresh / old }] : []
  })
  if (blocks.length === 0) return []
  const ratios = new Map(blocks.map(({ block, ratio }) => [block, ratio]))
  return [...Map.groupBy(rows, nameKey).values()].flatMap((own) => {
    const expectation = expectationOf(own, ratios)
    return expectation ? [expectation] : []
  })
}

function expectationOf(own: readonly SessionRow[], ratios: ReadonlyMap<number, number>): Expectation | null {
  const after = own.filter(({ side }) => side !== 'before')
  const total = (rows: readonly SessionRow[], field: 'events' | 'weight' | 'squares') =>
    rows.reduce((sum, row) => sum + row[field], 0)
  const versioned = after.filter(({ side }) => side !== 'after')
  if (total(versioned, 'events') < MOSTLY * total(after, 'events')) return null
  const within = versioned.filter(({ block }) => ratios.has(block))
  const [old, fresh] = (['old', 'new'] as const).map((one) => within.filter(({ side }) => side === one))
  if (!old || !fresh) return null
  const expected = old.reduce((sum, row) => sum + row.weight * (ratios.get(row.block) ?? 0), 0)
  const events = total(within, 'events')
  const perSession = events > 0 ? Math.max(1, total(within, 'squares') / events) : 1
  const unit = (total(within, 'weight') / Math.max(1, events)) * perSession
  const seen = total(fresh, 'weight')
  if (Math.max(expected, seen) / unit < MIN_EXPECTED) return null
  const { vendor = '', event = '' } = own[0] ?? {}
  const spread = Math.hypot(Math.sqrt(perSession / (total(old, 'events') + 0.5)), LEAST_SPREAD)
  const isNew = expected === 0 && !own.some(({ side }) => side === 'before' || side === 'old')
  return { vendor, event, low: expected, high: expected, seen, spread, unit, usual: null, isNew }
}
