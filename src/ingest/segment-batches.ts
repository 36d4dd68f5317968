import type { Instant } from '../core/clock.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import type { BatchAnswer } from './batch.ts'
import { hashOf } from './batch-hash.ts'
import type { BatchRecord } from './segment-file.ts'

/** A batch that has an id. Its sender may send it again. */
export interface KnownBatch {
  hash: bigint
  accepted: number
  /** Null if no items were rejected. */
  refused: Refused | null
}

/** Events that violate an alert. */
export interface SegmentViolation {
  alertId: string
  domainId: string
  receivedAt: Instant
}

export type Refused = Omit<BatchAnswer, 'accepted'>

export const NOTHING_REFUSED: Refused = { rejected: 0, errors: [] }

/** The batches in one segment, until the warehouse has loaded the segment. */
export class BatchLog {
  /** Number of batches, including batches without an id. */
  size = 0
  /** True if all batches are canary events of the server itself, which are never loaded. */
  isInternal = true
  /** Time of the first batch; infinite without batches. */
  firstReceivedAt: Instant = Number.POSITIVE_INFINITY
  /** Time of the last batch; 0 without batches. */
  lastReceivedAt: Instant = 0
  /** Batches stored in full, because they have ledger entries or page timings. */
  readonly notable: BatchRecord[] = []
  private known = new Map<bigint, KnownBatch>()
  private violatedAt = new Map<string, SegmentViolation>()
  /** True after `forget`. */
  isForgotten = false

  static of(batches: Iterable<BatchRecord>): BatchLog {
    const log = new BatchLog()
    for (const batch of batches) log.add(batch)
    return log
  }

  /** Adds a batch. If its id is already known, the first response is kept. */
  add(batch: BatchRecord): void {
    const { key, orgId, domainId, receivedAt, answer, ledger, pages = [], violated = [] } = batch
    this.size++
    this.isInternal &&= orgId === INTERNAL_ORG_ID
    this.firstReceivedAt = Math.min(this.firstReceivedAt, receivedAt)
    this.lastReceivedAt = Math.max(this.lastReceivedAt, receivedAt)
    for (const alertId of violated) this.violatedAt.set(`${alertId} ${domainId}`, { alertId, domainId, receivedAt })
    if (ledger.length > 0 || pages.length > 0) this.notable.push(batch)
    if (key === null) return
    const hash = hashOf(key)
    if (!this.known.has(hash)) this.known.set(hash, knownBatch(hash, answer))
  }

  /** Returns the response to a batch; null if the batch is unknown. */
  answerOf(hash: bigint): BatchAnswer | null {
    const batch = this.known.get(hash)
    return batch ? { accepted: batch.accepted, ...(batch.refused ?? NOTHING_REFUSED) } : null
  }

  /** Most recent violation of each alert in each domain. */
  violations(): SegmentViolation[] {
    return [...this.violatedAt.values()]
  }

  /** Batches that have an id, in order of arrival. */
  knownBatches(): Iterable<KnownBatch> {
    return this.known.values()
  }

  /** Frees memory: removes everything but the size and the times. The segment's file still has it. */
  forget(): void {
    this.isForgotten = true
    this.notable.length = 0
    this.known = new Map()
    this.violatedAt = new Map()
  }

  /** Number of batches that have an id. */
  get knownCount(): number {
    return this.known.size
  }
}

function knownBatch(hash: bigint, { accepted, ...refused }: BatchAnswer): KnownBatch {
  return { hash, accepted, refused: refused.rejected > 0 || refused.notes ? refused : null }
}
