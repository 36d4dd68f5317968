import type { Instant } from '../core/clock.ts'
import type { BatchAnswer } from './batch.ts'
import { hashOf, highHalf, lowHalf } from './batch-hash.ts'
import type { BatchRecord } from './segment-file.ts'

/** A batch that has an id. Its sender may send it again. */
export interface KnownBatch {
  hash: bigint
  accepted: number
  /** Null if no items were rejected. */
  refused: Refused | null
}

export type Refused = Omit<BatchAnswer, 'accepted'>

export const NOTHING_REFUSED: Refused = { rejected: 0, errors: [] }

const FIRST_CAPACITY = 512

/**
 * The batches in one segment, until the warehouse has loaded the segment. Batches without rejected items are stored as
 * numbers in a hash table, because thousands of short-lived objects would fragment memory and make each request 10 %
 * slower (measured).
 */
export class BatchLog {
  /** Number of batches, including batches without an id. */
  size = 0
  /** Time of the first batch; infinite without batches. */
  firstReceivedAt: Instant = Number.POSITIVE_INFINITY
  /** Time of the last batch; 0 without batches. */
  lastReceivedAt: Instant = 0
  /** Batches stored in full, because they have ledger entries or page timings. */
  readonly notable: BatchRecord[] = []
  private readonly refusedBy = new Map<bigint, Refused>()
  private known = 0
  /** Two numbers for each hash, lower half first. */
  private halves = new Uint32Array(2 * FIRST_CAPACITY)
  private accepted = new Uint32Array(FIRST_CAPACITY)
  /**
   * Open addressing (Knuth, The Art of Computer Programming 3, 6.4). Each slot contains the index of the batch plus
   * one; 0 means free.
   */
  private slots = new Uint32Array(4 * FIRST_CAPACITY)

  static of(batches: Iterable<BatchRecord>): BatchLog {
    const log = new BatchLog()
    for (const batch of batches) log.add(batch)
    return log
  }

  /** Adds a batch. If its id is already known, the first response is kept. */
  add(batch: BatchRecord): void {
    const { key, receivedAt, answer, ledger, pages = [] } = batch
    this.size++
    this.firstReceivedAt = Math.min(this.firstReceivedAt, receivedAt)
    this.lastReceivedAt = Math.max(this.lastReceivedAt, receivedAt)
    if (ledger.length > 0 || pages.length > 0) this.notable.push(batch)
    if (key !== null) this.remember(hashOf(key), answer)
  }

  /** Returns the response to a batch; null if the batch is unknown. */
  answerOf(hash: bigint): BatchAnswer | null {
    const entry = this.slots[this.slotOf(lowHalf(hash), highHalf(hash))] ?? 0
    if (entry === 0) return null
    const refused = this.refusedBy.get(hash) ?? NOTHING_REFUSED
    return { accepted: this.accepted[entry - 1] ?? 0, ...refused }
  }

  /** Batches that have an id, in order of arrival. */
  *knownBatches(): Generator<KnownBatch> {
    const hashes = new BigInt64Array(this.halves.buffer, 0, this.known)
    for (const [index, hash] of hashes.entries()) {
      yield { hash, accepted: this.accepted[index] ?? 0, refused: this.refusedBy.get(hash) ?? null }
    }
  }

  /** Number of batches that have an id. */
  get knownCount(): number {
    return this.known
  }

  private remember(hash: bigint, { accepted, ...refused }: BatchAnswer): void {
    if (this.known === this.accepted.length) this.grow()
    const [low, high] = [lowHalf(hash), highHalf(hash)]
    const slot = this.slotOf(low, high)
    if (this.slots[slot] !== 0) return
    this.halves[2 * this.known] = low
    this.halves[2 * this.known + 1] = high
    this.accepted[this.known] = accepted
    this.slots[slot] = ++this.known
    if (refused.rejected > 0 || refused.notes) this.refusedBy.set(hash, refused)
  }

  /** Returns the slot that contains the hash, or the free slot where the hash would be inserted. */
  private slotOf(low: number, high: number): number {
    const { slots, halves } = this
    const mask = slots.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] ?? 0
      if (entry === 0 || (halves[2 * entry - 2] === low && halves[2 * entry - 1] === high)) return slot
    }
  }

  private grow(): void {
    this.halves = twice(this.halves)
    this.accepted = twice(this.accepted)
    this.slots = new Uint32Array(2 * this.slots.length)
    for (let index = 0; index < this.known; index++) {
      const slot = this.slotOf(this.halves[2 * index] ?? 0, this.halves[2 * index + 1] ?? 0)
      this.slots[slot] = index + 1
    }
  }
}

function twice(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * numbers.length)
  more.set(numbers)
  return more
}
