import { type Clock, type Instant, SECOND_MS, waitUntil } from '../../core/clock.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { Quota } from '../providers/provider-context.ts'

/** Safety margin. The other service counts a call at an unknown time between the start and the end of the call. */
const MARGIN_MS = SECOND_MS

interface QuotaDeps {
  db: Db
  clock: Clock
  /** Provider whose quota is used. */
  provider: string
  /** Organization that makes the call. Organizations take turns. */
  orgId: string
}

/**
 * Makes one call that counts against a quota, waiting until a slot is free. Organizations take turns, regardless of how
 * many calls each has waiting. Calls of one organization are made in order. Calls made before a restart also count.
 * Fails as `call` does, and if the signal is aborted while waiting.
 * @param waits Called with the end time of each wait, and with null when the wait is over.
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
  // Only the first waiting call of each organization competes with calls of other organizations.
  const line = `calls ${provider}`
  const id = await runExclusive(db, `${line} ${orgId}`, () => runExclusive(db, line, take))
  try {
    return await call()
  } finally {
    prepared(db, 'UPDATE providerCall SET at = ? WHERE id = ?').run(clock.now(), id)
  }
}

/** Records a call made now, or returns the time of the next allowed call. */
function takeCall(
  db: Db,
  provider: string,
  { calls, windowMs }: Quota,
  now: Instant,
): { id: number } | { freeAt: Instant } {
  const countedMs = windowMs + MARGIN_MS
  return tx(db, () => {
    // Times in the future were recorded before the clock was set back.
    const old = 'DELETE FROM providerCall WHERE provider = ? AND (at <= ? OR at > ?)'
    prepared(db, old).run(provider, now - countedMs, now)
    const sql = 'SELECT at FROM providerCall WHERE provider = ? ORDER BY at DESC LIMIT 1 OFFSET ?'
    const first = prepared<[string, number], { at: Instant }>(db, sql).get(provider, calls - 1)
    if (first) return { freeAt: first.at + countedMs }
    const add = prepared(db, 'INSERT INTO providerCall (provider, at) VALUES (?, ?)').run(provider, now)
    return { id: Number(add.lastInsertRowid) }
  })
}
