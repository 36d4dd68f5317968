import { type Clock, DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { type Db, prepared } from '../store/database.ts'
import type { BatchAnswer } from './batch.ts'
import { type BatchLog, NOTHING_REFUSED, type Refused } from './segment-batches.ts'

/** Repeated batches are recognised for this long. */
const MEMORY_MS = DAY_MS
/** Number of batches in a generation. Increased when there would otherwise be more than 64 generations. */
const GENERATION_BATCHES = 20_000
const GENERATIONS = 64
/** Maximum number of batches deleted per call. Keeps the event loop responsive. */
const DELETED_PER_CALL = 10_000

interface Generation {
  id: number
  firstReceivedAt: Instant
  lastReceivedAt: Instant
  batches: number
}

interface BatchRow {
  accepted: number
  refused: string | null
}

/**
 * Batches in the warehouse, with the responses to their senders. Stored in SQLite by generation. After startup, a Bloom
 * filter in memory is filled from the latest generation to the oldest, one generation for each recorded segment.
 */
export class SeenBatches {
  private readonly seen: SeenFilter
  /** The filter contains the batches of this generation and all later generations. */
  private mirroredFrom: number

  constructor(
    private readonly db: Db,
    clock: Clock,
  ) {
    this.seen = new SeenFilter(clock, MEMORY_MS)
    this.mirroredFrom = (latestOf(db)?.id ?? 0) + 1
  }

  /** Looks up a batch by its hash and returns the response; null if the batch was not seen in the last 24 hours. */
  answerOf(hash: bigint): BatchAnswer | null {
    const isLikely = this.seen.mayHold(hash)
    if (!isLikely && this.mirroredFrom === FIRST_GENERATION) return null
    const row = prepared<[bigint, number], BatchRow>(
      this.db,
      `SELECT accepted, refused FROM batchGeneration CROSS JOIN batch ON generation = id AND hash = ?
       WHERE id < ? ORDER BY id DESC LIMIT 1`,
    ).get(hash, isLikely ? Number.MAX_SAFE_INTEGER : this.mirroredFrom)
    if (!row) return null
    const refused = row.refused === null ? NOTHING_REFUSED : (JSON.parse(row.refused) as Refused)
    return { accepted: row.accepted, ...refused }
  }

  /** Stores the batches of one segment in the transaction that adds its events. */
  record(batches: BatchLog): void {
    if (batches.knownCount === 0) return
    this.mirrorOne()
    const generation = this.generationFor(batches)
    const known = [...batches.knownBatches()]
    for (const { hash } of known) this.seen.add(hash)
    const insert = this.db.prepare('INSERT OR IGNORE INTO batch VALUES (?, ?, ?, ?)')
    for (const { hash, accepted, refused } of known) {
      if (refused) insert.run(generation, hash, accepted, JSON.stringify(refused))
    }
    // Inserting thousands of rows individually would block the event loop twice as long.
    const insertAll = this.db.prepare('INSERT OR IGNORE INTO batch SELECT ?, value, ?, NULL FROM json_each(?)')
    const plain = known.filter(({ refused }) => refused === null)
    for (const [accepted, some] of Map.groupBy(plain, (batch) => batch.accepted)) {
      insertAll.run(generation, accepted, `[${some.map(({ hash }) => hash).join()}]`)
    }
  }

  private generationFor({ firstReceivedAt, lastReceivedAt, knownCount: batches }: BatchLog): number {
    const latest = latestOf(this.db)
    const total = this.db.prepare<[], number>('SELECT sum(batches) FROM batchGeneration').pluck().get() ?? 0
    const isFull = !latest || latest.batches >= Math.max(GENERATION_BATCHES, total / GENERATIONS)
    const id = isFull || firstReceivedAt - latest.firstReceivedAt >= HOUR_MS ? (latest?.id ?? 0) + 1 : latest.id
    this.db
      .prepare(
        `INSERT INTO batchGeneration VALUES (@id, @firstReceivedAt, @lastReceivedAt, @batches)
         ON CONFLICT DO UPDATE SET lastReceivedAt = max(lastReceivedAt, excluded.lastReceivedAt),
           batches = batches + excluded.batches`,
      )
      .run({ id, firstReceivedAt, lastReceivedAt, batches })
    return id
  }

  private mirrorOne(): void {
    if (this.mirroredFrom === FIRST_GENERATION) return
    const next = this.db
      .prepare<[number], number | null>('SELECT max(id) FROM batchGeneration WHERE id < ?')
      .pluck()
      .get(this.mirroredFrom)
    const hashes = this.db
      .prepare<[number], bigint>('SELECT hash FROM batch WHERE generation = ?')
      .pluck()
      .safeIntegers()
    for (const hash of hashes.iterate(next ?? 0)) this.seen.add(hash)
    this.mirroredFrom = next ?? FIRST_GENERATION
  }
}

const FIRST_GENERATION = 1

function latestOf(db: Db): Generation | undefined {
  return db.prepare<[], Generation>('SELECT * FROM batchGeneration ORDER BY id DESC LIMIT 1').get()
}

/**
 * Deletes up to 10,000 expired batches in the caller's transaction. Returns the number deleted; null if no expired
 * batches remained.
 */
export function deleteExpiredBatches(db: Db, now: Instant): number | null {
  const old = db
    .prepare<[number], number>('SELECT id FROM batchGeneration WHERE lastReceivedAt < ? ORDER BY id LIMIT 1')
    .pluck()
    .get(now - MEMORY_MS)
  if (old === undefined) return null
  const { changes } = db
    .prepare('DELETE FROM batch WHERE generation = ? AND hash IN (SELECT hash FROM batch WHERE generation = ? LIMIT ?)')
    .run(old, old, DELETED_PER_CALL)
  if (changes < DELETED_PER_CALL) db.prepare('DELETE FROM batchGeneration WHERE id = ?').run(old)
  return changes
}

const FILTER_BITS = 2 ** 25
const MASK = BigInt(FILTER_BITS - 1)

/**
 * A Bloom filter (https://doi.org/10.1145/362686.362692) that uses 4 MiB per period. Almost every batch is new, so the
 * filter avoids almost all database lookups.
 */
// Optimisation: see docs/develop/tuning.md
class SeenFilter {
  private current = new Uint32Array(FILTER_BITS / 32)
  private before = new Uint32Array(FILTER_BITS / 32)
  private startedAt: Instant

  /** Hashes are remembered for at least `periodMs` and at most twice as long. */
  constructor(
    private readonly clock: Clock,
    private readonly periodMs: number,
  ) {
    this.startedAt = clock.now()
  }

  /** Adds the lowest 64 bits of a hash. */
  add(hash: bigint): void {
    const now = this.clock.now()
    // The clock was set back, so the period starts again.
    if (now < this.startedAt) this.startedAt = now
    if (now - this.startedAt >= this.periodMs) {
      this.before = this.current
      this.current = new Uint32Array(FILTER_BITS / 32)
      this.startedAt = now
    }
    for (const bit of bitsOf(hash)) this.current[bit >>> 5] = wordOf(this.current, bit) | (1 << (bit & 31))
  }

  mayHold(hash: bigint): boolean {
    const [first, second] = bitsOf(hash)
    return [this.current, this.before].some((words) => isSet(words, first) && isSet(words, second))
  }
}

/** Returns the two positions of a hash in the filter. */
const bitsOf = (hash: bigint) => [Number(hash & MASK), Number((hash >> 32n) & MASK)] as const

const wordOf = (words: Uint32Array, bit: number) => words[bit >>> 5] ?? 0
const isSet = (words: Uint32Array, bit: number) => (wordOf(words, bit) & (1 << (bit & 31))) !== 0
