import { type Clock, type Instant, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId, newSecret } from '../core/id.ts'
import { secretHash } from '../core/secret-box.ts'
import type { Numbering } from '../ingest/spool.ts'
import { checkName } from '../org/org.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import type { CollectorStatus, SegmentSpan } from './protocol.ts'

/** A process that receives events for this server. */
export interface CollectorRecord {
  id: string
  name: string
  /** Its event numbers are congruent to it modulo 64. */
  slot: number
  createdAt: Instant
  /** Random id of the data folder that uses the token; null before the first contact. */
  instance: string | null
  /** Time of the most recent contact; null before the first contact. */
  seenAt: Instant | null
  /** Version of its program; null before the first contact. */
  version: string | null
  /** Size of the events that wait on its disk, in bytes; null before the first contact. */
  diskBytes: number | null
  /** Free space on its disk, in bytes; null if unknown. */
  freeBytes: number | null
  /** All its events received before this time are in the event history; null before the first contact. */
  storedThrough: Instant | null
  /** True when alerts are evaluated without waiting for it. */
  isAway: boolean
}

/** Slot 0 belongs to the control node. */
export const SLOTS = 64
/** Numbering of the processes that share an event history. Each has another slot. */
export const SHARED_NUMBERING: Omit<Numbering, 'slot'> = { perMs: 4000, slots: SLOTS }
/** After this time without contact, alerts are evaluated without waiting for the collector. */
export const AWAY_MS = MINUTE_MS
/** Longer than a collector keeps a segment that it has committed. */
const COMMITTED_MS = 14 * 24 * 60 * MINUTE_MS

const SELECT = `SELECT id, name, slot, createdAt, instance, seenAt, version, diskBytes, freeBytes, storedThrough, isAway
  FROM collector`

type Row = Omit<CollectorRecord, 'isAway'> & { isAway: number }
const recordOf = (row: Row): CollectorRecord => ({ ...row, isAway: row.isAway === 1 })

/** Returns all collectors by name. */
export function listCollectors(db: Db): CollectorRecord[] {
  return prepared<[], Row>(db, `${SELECT} ORDER BY name`).all().map(recordOf)
}

/**
 * Adds a collector. Returns it with its token, of which only the SHA-256 hash is stored. Throws `invalid` for a blank
 * name, and `conflict` when the name is taken or there are 63 collectors.
 */
export function addCollector(db: Db, clock: Clock, name: string): { collector: CollectorRecord; token: string } {
  const token = newSecret('ct')
  const id = newId('col', clock.now())
  return tx(db, () => {
    const known = listCollectors(db)
    const plain = checkName(name, 'name')
    if (known.some((one) => one.name === plain)) throw new AppError('conflict', `name: "${plain}" is taken`)
    const taken = new Set(known.map(({ slot }) => slot))
    const slot = Array.from({ length: SLOTS - 1 }, (_, index) => index + 1).find((one) => !taken.has(one))
    if (slot === undefined)
      throw new AppError('conflict', `there can be at most ${SLOTS - 1} collectors; remove one first`)
    prepared(db, 'INSERT INTO collector (id, name, slot, tokenHash, createdAt) VALUES (?, ?, ?, ?, ?)').run(
      id,
      plain,
      slot,
      secretHash(token),
      clock.now(),
    )
    return { collector: findCollector(db, id), token }
  })
}

/**
 * Removes a collector, so that its token no longer works. Throws `notFound`.
 */
export function removeCollector(db: Db, name: string): void {
  const { changes } = prepared(db, 'DELETE FROM collector WHERE name = ?').run(name)
  if (changes === 0) throw new AppError('notFound', `there is no collector named "${name}"`)
}

/** Throws `notFound`. */
export function findCollector(db: Db, id: string): CollectorRecord {
  const row = prepared<[string], Row>(db, `${SELECT} WHERE id = ?`).get(id)
  if (!row) throw new AppError('notFound', 'no such collector')
  return recordOf(row)
}

/**
 * Age of the oldest event of a collector that was not stored at its most recent contact, in milliseconds; null before
 * the first contact.
 */
export function lagOf({ seenAt, storedThrough }: CollectorRecord): number | null {
  return seenAt === null || storedThrough === null ? null : Math.max(0, seenAt - storedThrough)
}

/** `away`: alerts are evaluated without waiting for the collector. `never`: it has not been in contact yet. */
export function statusOf({ seenAt, isAway }: CollectorRecord): 'connected' | 'away' | 'never' {
  if (seenAt === null) return 'never'
  return isAway ? 'away' : 'connected'
}

/** Returns the collector of a token; null when the token is unknown. */
export function collectorOf(db: Db, token: string): CollectorRecord | null {
  const row = prepared<[Buffer], Row>(db, `${SELECT} WHERE tokenHash = ?`).get(secretHash(token))
  return row ? recordOf(row) : null
}

/**
 * Checks that the data folder may use the collector's token. Throws `conflict` when another folder has used it within
 * the last minute, because two processes would give the same numbers to different events.
 */
export function checkInstance(collector: CollectorRecord, instance: string, now: Instant): void {
  const { name, instance: known, seenAt } = collector
  if (known === null || known === instance || seenAt === null || Math.abs(now - seenAt) > AWAY_MS) return
  throw new AppError('conflict', `the token of "${name}" is in use by a collector with another data folder`)
}

/** Records the contact. `isBack` ends its absence. */
export function recordContact(
  db: Db,
  id: string,
  { status, now, isAway }: { status: CollectorStatus; now: Instant; isAway: boolean },
): void {
  prepared(
    db,
    `UPDATE collector SET instance = @instance, seenAt = @now, version = @version, diskBytes = @diskBytes,
       freeBytes = @freeBytes, storedThrough = @storedThrough, isAway = @isAway WHERE id = @id`,
  ).run({ ...status, id, now, isAway: isAway ? 1 : 0 })
}

/** Returns the number of collectors that are in contact. */
export function countLive(db: Db): number {
  const sql = 'SELECT count(*) AS live FROM collector WHERE seenAt IS NOT NULL AND isAway = 0'
  return prepared<[], { live: number }>(db, sql).get()?.live ?? 0
}

/** Records the segment that a collector is about to store. It stores one at a time. */
export function noteClaim(db: Db, id: string, span: SegmentSpan): void {
  prepared(db, 'UPDATE collector SET claimed = ? WHERE id = ?').run(JSON.stringify(span), id)
}

/**
 * Marks collectors as away that have had no contact for a minute, and returns them. The segment that such a collector
 * has claimed is late from then on, because its events become visible at any time.
 * @param listeningSince time since which this server can be reached
 */
export function markAway(db: Db, now: Instant, listeningSince: Instant): CollectorRecord[] {
  const lost = listCollectors(db).filter(
    ({ seenAt, isAway }) => seenAt !== null && !isAway && now - Math.max(seenAt, listeningSince) > AWAY_MS,
  )
  for (const { id, slot } of lost) {
    const claimed = prepared<[string], { claimed: string | null }>(
      db,
      'UPDATE collector SET isAway = 1 WHERE id = ? RETURNING claimed',
    ).get(id)?.claimed
    if (claimed) addLateSpan(db, { ...(JSON.parse(claimed) as SegmentSpan), slot })
  }
  return lost
}

/** Returns the periods in which events of absent collectors are missing from the event history, up to now. */
export function absences(db: Db, now: Instant): { fromAt: Instant; toAt: Instant }[] {
  const sql = 'SELECT storedThrough AS fromAt FROM collector WHERE isAway = 1 AND storedThrough IS NOT NULL'
  return prepared<[], { fromAt: Instant }>(db, sql)
    .all()
    .map(({ fromAt }) => ({ fromAt, toAt: now }))
}

/** Records that a segment is committed. Returns false when it already was. */
export function commitSegment(db: Db, collectorId: string, name: string, now: Instant): boolean {
  prepared(db, 'UPDATE collector SET claimed = NULL WHERE id = ?').run(collectorId)
  const sql = 'INSERT INTO collectorSegment (collectorId, name, committedAt) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'
  return prepared(db, sql).run(collectorId, name, now).changes === 1
}

/** Events of a collector that arrived after alerts had been evaluated without them. */
export interface LateSpan extends SegmentSpan {
  slot: number
}

/**
 * Records late events, before they are visible to queries. Events that follow on from a recorded span extend it.
 * Idempotent.
 */
export function addLateSpan(db: Db, span: LateSpan): void {
  const { changes } = prepared(
    db,
    `UPDATE lateSpan SET lastSeq = max(lastSeq, @lastSeq), toAt = max(toAt, @toAt)
     WHERE slot = @slot AND afterSeq <= @afterSeq AND lastSeq >= @afterSeq`,
  ).run(span)
  if (changes > 0) return
  prepared(db, 'INSERT INTO lateSpan VALUES (@slot, @afterSeq, @lastSeq, @fromAt, @toAt)').run(span)
}

/** Returns late spans with events received from `from` up to but not including `to`. */
export function lateSpansBetween(db: Db, from: Instant, to: Instant): LateSpan[] {
  const sql = 'SELECT slot, afterSeq, lastSeq, fromAt, toAt FROM lateSpan WHERE fromAt < ? AND toAt >= ?'
  return prepared<[Instant, Instant], LateSpan>(db, sql).all(to, from)
}

/** True when the events of a segment are in a late span. */
export function isLate(db: Db, { slot, afterSeq, lastSeq }: LateSpan): boolean {
  const sql = 'SELECT 1 FROM lateSpan WHERE slot = ? AND afterSeq <= ? AND lastSeq >= ?'
  return prepared(db, sql).get(slot, afterSeq, lastSeq) !== undefined
}

/** Deletes expired records of segments and late spans. */
export function removeOldSegments(db: Db, now: Instant): void {
  prepared(db, 'DELETE FROM collectorSegment WHERE committedAt < ?').run(now - COMMITTED_MS)
  prepared(db, 'DELETE FROM lateSpan WHERE toAt < ?').run(now - RECORD_RETENTION_MS)
}
