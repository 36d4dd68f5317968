import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Commit, SegmentSpan } from '../collectors/protocol.ts'
import { hashOf } from '../ingest/batch-hash.ts'
import type { Collector } from '../ingest/collector.ts'
import type { SeenBatches } from '../ingest/seen-batches.ts'
import { BatchLog } from '../ingest/segment-batches.ts'
import { LINE_END } from '../ingest/segment-file.ts'
import { readSegment } from '../ingest/segment-reader.ts'
import type { Segment, Spool } from '../ingest/spool.ts'
import { type Db, tx } from '../store/database.ts'
import type { SegmentOutlet } from '../warehouse/open-segment-outlet.ts'
import type { ControlClient } from './control-client.ts'
import { recordCommitted, stateOf } from './replica.ts'

/** Age at which the open segment is sealed. Alerts are evaluated this much later than on a single server. */
const SEAL_AFTER_MS = 2000

export interface ForwardDeps {
  db: Db
  spool: Spool
  batches: SeenBatches
  collector: Pick<Collector, 'recordRefusals'>
  control: Pick<ControlClient, 'claim' | 'commit'>
  outlet: SegmentOutlet
  /** Random id of the data folder. */
  instance: string
  /** Prefix of the tokens with which segments are inserted; unique among collectors. */
  name: string
  /** Folder for segments without the batches of other collectors. */
  folder: string
}

/**
 * Seals the spool, and stores all sealed segments in the event history, oldest first. Every step can be repeated after a
 * kill: a claim has the same answer, an insert with the same token and a commit have no effect. Stops at the first
 * failure, because the control node relies on the order. While segments wait, no more are sealed until they are full.
 * @param sealAfterMs age at which the open segment is sealed
 */
export async function forward(deps: ForwardDeps, sealAfterMs = SEAL_AFTER_MS): Promise<void> {
  const { spool, collector } = deps
  await collector.recordRefusals()
  await forwardSealed(deps)
  await spool.seal(sealAfterMs)
  await forwardSealed(deps)
}

async function forwardSealed(deps: ForwardDeps): Promise<void> {
  for (const segment of [...deps.spool.segments()]) await forwardSegment(deps, segment)
}

async function forwardSegment(deps: ForwardDeps, segment: Segment): Promise<void> {
  const { db, spool, batches, control, outlet, instance, name } = deps
  if (!(await spool.repair(segment))) return
  const hashes = [...segment.batches.knownBatches()].map(({ hash }) => hash)
  const span = spanOf(db, segment)
  const taken = await control.claim({ instance, segment: segment.name, span, hashes })
  const own = taken.size === 0 ? segment : await withoutTaken(deps, segment, taken)
  const stored = await outlet.insert(
    { ...own, pages: own.batches.notable.flatMap((batch) => batch.pages ?? []) },
    `${name}:${segment.name}`,
  )
  await control.commit(commitOf({ instance, segment: segment.name, span }, own.batches, stored))
  tx(db, () => {
    // Other collectors' batches were acknowledged here as well, so their repeats are recognised.
    batches.record(segment.batches)
    recordCommitted(db, segment, spool.latest)
  })
  spool.release(segment)
  await rm(segment.path, { force: true })
  if (own !== segment) await rm(own.path, { force: true })
}

function spanOf(db: Db, { batches, lastSeq }: Segment): SegmentSpan {
  const afterSeq = stateOf(db).committedSeq
  return {
    afterSeq,
    lastSeq: Math.max(afterSeq, lastSeq),
    fromAt: batches.firstReceivedAt,
    toAt: batches.lastReceivedAt,
  }
}

function commitOf(
  segment: Pick<Commit, 'instance' | 'segment' | 'span'>,
  batches: BatchLog,
  { content, names }: Awaited<ReturnType<SegmentOutlet['insert']>>,
): Commit {
  const { counts, vendors, folded } = content
  return {
    ...segment,
    content: { counts: [...counts], vendors: [...vendors], ...(folded && { folded: [...folded] }) },
    names,
    ledger: batches.notable.flatMap(({ orgId, domainId, receivedAt, ledger }) =>
      ledger.length > 0 ? [{ orgId, domainId, receivedAt, ledger }] : [],
    ),
    violated: batches.violations(),
  }
}

/** Writes a copy of the segment without batches that other segments own. */
async function withoutTaken(
  { folder }: ForwardDeps,
  { name, path, ...segment }: Segment,
  taken: ReadonlySet<bigint>,
): Promise<Segment> {
  const bytes = await readFile(path)
  const kept = readSegment(bytes).intact.filter(({ record: { key } }) => key === null || !taken.has(hashOf(key)))
  const own = join(folder, `${name}.ndjson`)
  const lineEnd = Buffer.from([LINE_END])
  await writeFile(own, Buffer.concat(kept.flatMap(({ start, end }) => [bytes.subarray(start, end), lineEnd])))
  return { ...segment, name, path: own, batches: BatchLog.of(kept.map(({ record }) => record)) }
}
