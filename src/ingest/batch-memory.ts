import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { BatchAnswer } from './batch.ts'
import type { BatchRecord } from './segment-file.ts'

/** A repeated batch is recognised for this long. */
const MEMORY_MS = DAY_MS
/** Old batches are looked for in one of so many parts of the table at a time: no call holds everything up. */
const PARTS = 64
const HASHES_A_PART = 2n ** 64n / BigInt(PARTS)

interface BatchRow {
  accepted: number
  refused: string | null
}

const NOTHING_REFUSED: Pick<BatchAnswer, 'rejected' | 'errors'> = { rejected: 0, errors: [] }

/** Which batches the warehouse has, and what their senders were told. Kept in SQLite; mirrored by a filter in memory. */
export class BatchMemory {
  private readonly seen: SeenFilter

  constructor(
    private readonly db: Db,
    clock: Clock,
  ) {
    const hashes = db
      .prepare<[number], bigint>('SELECT hash FROM batch LIMIT ?')
      .pluck()
      .safeIntegers()
      .all(MAX_MIRRORED)
    this.seen = new SeenFilter(clock, hashes.length < MAX_MIRRORED ? hashes : null)
  }

  /** What the sender was told; null for a batch that was not seen in 24 hours. */
  answerOf(key: string): BatchAnswer | null {
    const hash = hashOf(key)
    if (!this.seen.mayHold(hash)) return null
    const row = this.db.prepare<[bigint], BatchRow>('SELECT accepted, refused FROM batch WHERE hash = ?').get(hash)
    if (!row) return null
    const refused = row.refused === null ? NOTHING_REFUSED : (JSON.parse(row.refused) as typeof NOTHING_REFUSED)
    return { accepted: row.accepted, ...refused }
  }

  /** Writes batches down, inside the transaction that adds their events. */
  record(batches: readonly BatchRecord[]): void {
    const insert = this.db.prepare('INSERT OR IGNORE INTO batch VALUES (?, ?, ?, ?)')
    for (const { key, receivedAt, answer } of batches) {
      if (key === null) continue
      const { accepted, ...refused } = answer
      const hash = hashOf(key)
      insert.run(hash, receivedAt, accepted, refused.rejected === 0 ? null : JSON.stringify(refused))
      this.seen.add(hash)
    }
  }
}

/** Drops batches that are no longer recognised, from one part of 64 of the table. Answers how many. */
export function forgetBatches(db: Db, now: Instant, part: number): number {
  const first = -(2n ** 63n) + BigInt(part % PARTS) * HASHES_A_PART
  return db
    .prepare('DELETE FROM batch WHERE hash BETWEEN ? AND ? AND receivedAt < ?')
    .run(first, first + HASHES_A_PART - 1n, now - MEMORY_MS).changes
}

/** Signed, as SQLite keeps integers. Among a million batches a day, two meet on one hash once in 50,000 years. */
function hashOf(key: string): bigint {
  return BigInt.asIntN(64, Bun.hash(key) as bigint)
}

/** More batches than this are not read at a start; until a day is over, each look-up then asks the database. */
const MAX_MIRRORED = 200_000
const FILTER_POWER = 25
const FILTER_BITS = 2 ** FILTER_POWER

/**
 * A Bloom filter (https://doi.org/10.1145/362686.362692) of 4 MiB a day: says for sure that a batch was not seen, or
 * that it may have been. It spares the database a look-up for almost every batch, because almost every one is new.
 */
class SeenFilter {
  private today = new Uint32Array(FILTER_BITS / 32)
  private yesterday = new Uint32Array(FILTER_BITS / 32)
  private begunAt: Instant
  /** Before this it does not know all that was seen. */
  private readonly completeAt: Instant

  /** `hashes`: all that were seen before; null when they are too many to be read. */
  constructor(
    private readonly clock: Clock,
    hashes: readonly bigint[] | null,
  ) {
    this.begunAt = clock.now()
    this.completeAt = hashes === null ? this.begunAt + MEMORY_MS : this.begunAt
    for (const hash of hashes ?? []) this.add(hash)
  }

  add(hash: bigint): void {
    const now = this.clock.now()
    if (now - this.begunAt >= MEMORY_MS) {
      this.yesterday = this.today
      this.today = new Uint32Array(FILTER_BITS / 32)
      this.begunAt = now
    }
    for (const bit of bitsOf(hash)) this.today[bit >>> 5] = (this.today[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }

  mayHold(hash: bigint): boolean {
    if (this.clock.now() < this.completeAt) return true
    const [first, second] = bitsOf(hash)
    const holds = (bits: Uint32Array) => isSet(bits, first) && isSet(bits, second)
    return holds(this.today) || holds(this.yesterday)
  }
}

/** Two places of the filter, from the lower and the upper half of the hash. */
function bitsOf(hash: bigint): [number, number] {
  return [Number(BigInt.asUintN(FILTER_POWER, hash)), Number(BigInt.asUintN(FILTER_POWER, hash >> 32n))]
}

function isSet(bits: Uint32Array, bit: number): boolean {
  return ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0
}
