import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Commit, SegmentSpan } from '../collectors/protocol.ts'
import type { Sighting } from '../compliance/compliance-finding.ts'
import { personalDataScan } from '../compliance/scan-personal-data.ts'
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

/**
 * Maximum size of the sightings in a commit, in characters. Senders choose the keys, and a request has a limit.
 */
const MAX_SIGHTINGS_CHARACTERS = 4 * 1024 * 1024

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
  try {
    await forwardSealed(deps)
  } catch (error) {
    await keepWaiting(deps)
    throw error
  }
  // Afterwards, because it fails on a full disk, which only forwarding can free.
  await collector.recordRefusals()
  await spool.seal(sealAfterMs)
  await forwardSealed(deps)
}

async function forwardSealed(deps: ForwardDeps): Promise<void> {
  for (const segment of [...deps.spool.segments()]) await forwardSegment(deps, segment)
}

/**
 * Moves the batches of waiting segments from memory to the database, where their repeats are recognised. After hours,
 * millions would be in memory otherwise.
 */
async function keepWaiting({ db, spool, batches }: ForwardDeps): Promise<void> {
  for (const segment of spool.segments().filter((one) => !one.batches.isForgotten)) {
    tx(db, () => batches.record(segment.batches))
    segment.batches.forget()
    await Bun.sleep(0)
  }
}

async function forwardSegment(deps: ForwardDeps, segment: Segment): Promise<void> {
  const { db, spool, batches, control, outlet, instance, name } = deps
  if (!(await spool.repair(segment))) return
  const isRecorded = segment.batches.isForgotten
  const whole = isRecorded ? { ...segment, batches: await readBatches(segment) } : segment
  const hashes = [...whole.batches.knownBatches()].map(({ hash }) => hash)
  const { epoch, committedSeq } = stateOf(db)
  const span = spanOf(segment, committedSeq)
  const sender = { instance, epoch, segment: segment.name }
  const taken = await control.claim({ ...sender, span, hashes })
  const own = taken.size === 0 ? whole : await withoutTaken(deps, segment, taken)
  const scan = personalDataScan(db)
  const stored = await outlet.insert(
    { ...own, pages: own.batches.notable.flatMap((batch) => batch.pages ?? []) },
    `${name}:${segment.name}`,
    scan.query,
  )
  await control.commit({
    ...commitOf({ ...sender, span }, own.batches, stored),
    sightings: limited(scan.sightings()),
  })
  tx(db, () => {
    // Other collectors' batches were acknowledged here as well, so their repeats are recognised.
    if (!isRecorded) batches.record(segment.batches)
    recordCommitted(db, segment, spool.latest)
  })
  spool.release(segment)
  await rm(segment.path, { force: true })
  if (taken.size > 0) await rm(own.path, { force: true })
}

async function readBatches({ path }: Segment): Promise<BatchLog> {
  return BatchLog.of(readSegment(await readFile(path)).intact.map(({ record }) => record))
}

function spanOf({ batches, lastSeq }: Segment, afterSeq: number): SegmentSpan {
  return {
    afterSeq,
    lastSeq: Math.max(afterSeq, lastSeq),
    fromAt: batches.firstReceivedAt,
    toAt: batches.lastReceivedAt,
  }
}

function commitOf(
  segment: Pick<Commit, 'instance' | 'epoch' | 'segment' | 'span'>,
  batches: BatchLog,
  { content, names }: Awaited<ReturnType<SegmentOutlet['insert']>>,
): Omit<Commit, 'sightings'> {
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

/** Returns the most frequent sightings that fit into a commit. */
function limited(sightings: readonly Sighting[]): Commit['sightings'] {
  let characters = 0
  return sightings
    .toSorted((a, b) => b.count - a.count)
    .map(({ paths = [], ...sighting }) => ({ ...sighting, paths: [...paths] }))
    .filter((sighting) => {
      characters += JSON.stringify(sighting).length
      return characters <= MAX_SIGHTINGS_CHARACTERS
    })
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
