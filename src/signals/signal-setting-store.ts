import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { hasDomain } from '../domains/store.ts'
import { type Db, tx } from '../store/database.ts'
import type { SignalSetting } from './signal.ts'

/** Maximum number of signals with settings per domain. */
export const MAX_SETTINGS = 1000

/**
 * Returns all signal settings of the organization. Signals without a setting are `auto`, with the sensitivity of their
 * alert.
 */
export function settingsOf(db: Db, orgId: string): SignalSetting[] {
  return db
    .prepare<[string], SignalSetting>(
      `SELECT domainId, vendor, event, mode, sensitivity FROM signalSetting WHERE orgId = ?
       ORDER BY domainId, vendor, event`,
    )
    .all(orgId)
}

/**
 * Stores the setting of a signal, which may be unknown. An absent sensitivity is unchanged; null resets it to the
 * alert's sensitivity. Throws `AppError('notFound')` when the organization does not have the domain, and
 * `AppError('conflict')` when the domain has too many settings.
 */
export function saveSetting(
  db: Db,
  clock: Clock,
  orgId: string,
  { domainId, vendor, event, mode, sensitivity }: Omit<SignalSetting, 'sensitivity'> & { sensitivity?: number | null },
): void {
  tx(db, () => {
    if (!hasDomain(db, { orgId, id: domainId })) {
      throw new AppError('notFound', 'domainId: no such domain')
    }
    const key = { domainId, vendor, event }
    const before = db
      .prepare<[object], Pick<SignalSetting, 'sensitivity'>>(
        'SELECT sensitivity FROM signalSetting WHERE domainId = @domainId AND vendor = @vendor AND event = @event',
      )
      .get(key)
    const newSensitivity = sensitivity === undefined ? (before?.sensitivity ?? null) : sensitivity
    if (mode === 'auto' && newSensitivity === null) {
      db.prepare('DELETE FROM signalSetting WHERE domainId = @domainId AND vendor = @vendor AND event = @event').run(
        key,
      )
      return
    }
    if (!before) refuseTooMany(db, domainId)
    db.prepare(
      `INSERT INTO signalSetting (orgId, domainId, vendor, event, mode, sensitivity, updatedAt)
       VALUES (@orgId, @domainId, @vendor, @event, @mode, @sensitivity, @now)
       ON CONFLICT (domainId, vendor, event)
       DO UPDATE SET mode = excluded.mode, sensitivity = excluded.sensitivity, updatedAt = excluded.updatedAt`,
    ).run({ orgId, ...key, mode, sensitivity: newSensitivity, now: clock.now() })
  })
}

function refuseTooMany(db: Db, domainId: string): void {
  const find = db.prepare<[string], number>('SELECT count(*) FROM signalSetting WHERE domainId = ?').pluck()
  if ((find.get(domainId) ?? 0) < MAX_SETTINGS) return
  throw new AppError('conflict', `a domain can have settings for at most ${MAX_SETTINGS} signals`)
}
