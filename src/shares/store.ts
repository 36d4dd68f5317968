import { createHash, randomBytes } from 'node:crypto'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { Share } from '../flows/run-schema.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'

/** The most links of one run that are valid at once. */
export const MAX_LINKS = 50

const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** A run of an organization. */
export interface RunKey {
  orgId: string
  runId: string
}

/** What a new link shows, and until when. */
export interface NewShare {
  expiresAt: Instant
  /** Indexes of the steps whose screenshots it shows. */
  screenshots: readonly number[]
}

/** Makes a link, and returns the token of its address, which is kept as a hash only. Fails with `conflict` above 50. */
export function addShare(db: Db, { orgId, runId }: RunKey, { expiresAt, screenshots }: NewShare, now: Instant): string {
  return tx(db, () => {
    const valid = prepared<[string, Instant], number>(
      db,
      'SELECT count(*) FROM share WHERE runId = ? AND revokedAt IS NULL AND expiresAt > ?',
    )
      .pluck()
      .get(runId, now)
    if (Number(valid) >= MAX_LINKS) {
      throw new AppError('conflict', `id: the run has ${MAX_LINKS} links already; end them with revoke first`)
    }
    const token = randomBytes(32).toString('base64url')
    prepared(
      db,
      `INSERT INTO share (id, orgId, runId, tokenHash, expiresAt, screenshots, revokedAt, createdAt)
       VALUES (@id, @orgId, @runId, @tokenHash, @expiresAt, @screenshots, NULL, @now)`,
    ).run({
      ...{ id: newId('shr', now), orgId, runId, tokenHash: hashOf(token), expiresAt, now },
      screenshots: JSON.stringify(screenshots),
    })
    return token
  })
}

/** Ends all links of a run. */
export function revokeShares(db: Db, { orgId, runId }: RunKey, now: Instant): void {
  prepared(db, 'UPDATE share SET revokedAt = ? WHERE orgId = ? AND runId = ? AND revokedAt IS NULL').run(
    now,
    orgId,
    runId,
  )
}

/** A run whose page a valid link opens. */
export interface SharedRun extends RunKey {
  /** When the link ends. */
  expiresAt: Instant
  /** Indexes of the steps whose screenshots it shows. */
  screenshots: readonly number[]
}

/** Returns the run whose page the token opens; null when it is unknown, expired or revoked. */
export function sharedRun(db: Db, token: string, now: Instant): SharedRun | null {
  const found = prepared<[Buffer, Instant], Omit<SharedRun, 'screenshots'> & { screenshots: string }>(
    db,
    'SELECT orgId, runId, expiresAt, screenshots FROM share WHERE tokenHash = ? AND revokedAt IS NULL AND expiresAt > ?',
  ).get(hashOf(token), now)
  return found ? { ...found, screenshots: JSON.parse(found.screenshots) } : null
}

/** Returns the links of these runs, newest first, also those that ended; runs without any are left out. */
export function sharesOf(db: Db, orgId: string, runIds: readonly string[]): Map<string, Share[]> {
  const rows = prepared<[string, string], Share>(
    db,
    `SELECT id, runId, expiresAt, revokedAt, createdAt FROM share
     WHERE runId IN (SELECT value FROM json_each(?)) AND orgId = ? ORDER BY createdAt DESC, id DESC`,
  ).all(JSON.stringify(runIds), orgId)
  return Map.groupBy(rows, ({ runId }) => runId)
}

/** Deletes links that ended long ago. */
export function removeOldShares(db: Db, now: Instant): void {
  db.prepare('DELETE FROM share WHERE min(expiresAt, ifnull(revokedAt, expiresAt)) < ?').run(now - RECORD_RETENTION_MS)
}
