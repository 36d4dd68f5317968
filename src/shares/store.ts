import { createHash, randomBytes } from 'node:crypto'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { Share } from '../flows/run-schema.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'

/** Maximum number of valid links per run. */
const MAX_LINKS = 50

const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** Identifies a run in an organization. */
export interface RunKey {
  orgId: string
  runId: string
}

/** Content and expiry of a new link. */
interface NewShare {
  expiresAt: Instant
  /** Indexes of the steps whose screenshots the link shows. */
  screenshots: readonly number[]
}

/**
 * Creates a link and returns the token in its URL; only a hash of the token is stored. Fails with `conflict` if the run
 * has 50 valid links.
 */
export function addShare(db: Db, { orgId, runId }: RunKey, { expiresAt, screenshots }: NewShare, now: Instant): string {
  return tx(db, () => {
    const valid = prepared<[string, Instant], number>(
      db,
      'SELECT count(*) FROM share WHERE runId = ? AND revokedAt IS NULL AND expiresAt > ?',
    )
      .pluck()
      .get(runId, now)
    if (Number(valid) >= MAX_LINKS) {
      throw new AppError('conflict', `id: the run already has ${MAX_LINKS} active links; revoke them first`)
    }
    const token = randomBytes(32).toString('base64url')
    prepared(
      db,
      `INSERT INTO share (id, orgId, runId, tokenHash, expiresAt, screenshots, revokedAt, createdAt)
       VALUES (@id, @orgId, @runId, @tokenHash, @expiresAt, @screenshots, NULL, @now)`,
    ).run({
      id: newId('shr', now),
      orgId,
      runId,
      tokenHash: hashOf(token),
      expiresAt,
      now,
      screenshots: JSON.stringify(screenshots),
    })
    return token
  })
}

/** Revokes all links of a run. */
export function revokeShares(db: Db, { orgId, runId }: RunKey, now: Instant): void {
  prepared(db, 'UPDATE share SET revokedAt = ? WHERE orgId = ? AND runId = ? AND revokedAt IS NULL').run(
    now,
    orgId,
    runId,
  )
}

/** A run shared through a valid link. */
export interface SharedRun extends RunKey {
  /** Expiry of the link. */
  expiresAt: Instant
  /** Indexes of the steps whose screenshots the link shows. */
  screenshots: readonly number[]
}

/** Returns the run shared through a token; null if the token is unknown, expired or revoked. */
export function sharedRun(db: Db, token: string, now: Instant): SharedRun | null {
  const found = prepared<[Buffer, Instant], Omit<SharedRun, 'screenshots'> & { screenshots: string }>(
    db,
    'SELECT orgId, runId, expiresAt, screenshots FROM share WHERE tokenHash = ? AND revokedAt IS NULL AND expiresAt > ?',
  ).get(hashOf(token), now)
  return found ? { ...found, screenshots: JSON.parse(found.screenshots) } : null
}

/** Returns all links by run, newest first, including expired and revoked ones. Runs without links are omitted. */
export function sharesOf(db: Db, orgId: string, runIds: readonly string[]): Map<string, Share[]> {
  const rows = prepared<[string, string], Share>(
    db,
    `SELECT id, runId, expiresAt, revokedAt, createdAt FROM share
     WHERE runId IN (SELECT value FROM json_each(?)) AND orgId = ? ORDER BY createdAt DESC, id DESC`,
  ).all(JSON.stringify(runIds), orgId)
  return Map.groupBy(rows, ({ runId }) => runId)
}

/** Deletes links past their retention. */
export function removeOldShares(db: Db, now: Instant): void {
  db.prepare('DELETE FROM share WHERE min(expiresAt, ifnull(revokedAt, expiresAt)) < ?').run(now - RECORD_RETENTION_MS)
}
