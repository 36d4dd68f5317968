import { type Clock, type Instant, SECOND_MS, waitUntil } from '../../core/clock.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { Quota } from '../providers/provider-context.ts'

/** The other side counts when a call arrives, which is some time between its beginning and its end here. */
const MARGIN_MS = SECOND_MS

export interface QuotaDeps {
  db: Db
  clock: Clock
  /** Whose quota it is. */
  provider: string
  /** Who calls: organizations take turns. */
  orgId: string
}

/**
 * Makes one call that counts against a quota, when there is room for it. Organizations take turns, however many calls one has
 * waiting; those of one go in the order in which they came.
 * Calls of before a restart count too. Fails as `call` does, and when the signal is aborted while it waits.
 * @param waits told until when it waits, again and again, and null when it waits no longer
 */
export async function withinQuota<R>(
  { db, clock, provider, orgId }: QuotaDeps,
  quota: Quota,
  { call, signal, waits }: { call: () => Promise<R>; signal: AbortSignal; waits(until: Instant | null): void },
): Promise<R> {
  const take = async () => {
    for (;;) {
      signal.throwIfAborted()
      const taken = takeCall(db, provider, quota, clock.now())
      if ('id' in taken) return taken.id
      waits(taken.freeAt)
      await waitUntil(clock, taken.freeAt, signal)
      waits(null)
    }
  }
  // Of each organization only the first call waits beside those of others.
  const line = `calls ${provider}`
  const id = await runExclusive(db, `${line} ${orgId}`, () => runExclusive(db, line, take))
  try {
    return await call()
  } finally {
    prepared(db, 'UPDATE providerCall SET at = ? WHERE id = ?').run(clock.now(), id)
  }
}

/** Counts a call that goes now, or answers when one may. */
function takeCall(
  db: Db,
  provider: string,
  { calls, windowMs }: Quota,
  now: Instant,
): { id: number } | { freeAt: Instant } {
  const keptMs = windowMs + MARGIN_MS
  return tx(db, () => {
    // Times to come are from before the clock was put back.
    const old = 'DELETE FROM providerCall WHERE provider = ? AND (at <= ? OR at > ?)'
    prepared(db, old).run(provider, now - keptMs, now)
    const sql = 'SELECT at FROM providerCall WHERE provider = ? ORDER BY at DESC LIMIT 1 OFFSET ?'
    const first = prepared<[string, number], { at: Instant }>(db, sql).get(provider, calls - 1)
    if (first) return { freeAt: first.at + keptMs }
    const add = prepared(db, 'INSERT INTO providerCall (provider, at) VALUES (?, ?)').run(provider, now)
    return { id: Number(add.lastInsertRowid) }
  })
}
