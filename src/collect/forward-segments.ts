import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Commit, SegmentSpan } from '../collectors/protocol.ts'
import type { Sighting } from '../compliance/compliance-finding.ts'
import { personalDataScan } from '../compliance/scan-personal-data.ts'
import { AppError, messageOf } from '../core/error.ts'
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
import type { RejectedSegments } from './rejected-segments.ts'
import { recordCommitted, stateOf } from './replica.ts'

/** Number of segments in a row that may be rejected before the event history is considered to be at fault itself. */
const MAX_REJECTED = 10

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
  rejected: RejectedSegments
  /** Called when a segment is set aside. */
  notifyOperator(notice: { subject: string; text: string }): void
  /** Random id of the data folder. */
  instance: string
  /** Prefix of the tokens with which segments are inserted; unique among collectors. */
  name: string
  /** Folder for segments without the batches of other collectors. */
  folder: string
}

/**
 * Seals the spool, and stores all sealed segments in the event history, oldest first. Every step can be repeated after a
 * kill: a claim has the same answer, an insert with the same token and a commit have no effect. Stops while the control
 * node or the event history is absent. A segment that is rejected is set aside once a later one is accepted. While
 * segments wait, no more are sealed until they are full.
 * @param sealAfterMs age at which the open segment is sealed
 */
export async function forward(deps: ForwardDeps, sealAfterMs = SEAL_AFTER_MS): Promise<void> {
  const { spool, collector } = deps
  try {
    await forwardSealed(deps)
  } catch (error) {
    // Whether a segment or the event history is at fault shows only when another segment is sent.
    if (!isRejection(error) || spool.segments().length >= MAX_REJECTED) {
      await keepWaiting(deps)
      throw error
    }
  }
  // Afterwards, because it fails on a full disk, which only forwarding can free.
  await collector.recordRefusals()
  await spool.seal(sealAfterMs)
  await forwardSealed(deps)
}

async function forwardSealed(deps: ForwardDeps): Promise<void> {
  const failed: Rejection[] = []
  for (const segment of [...deps.spool.segments()]) {
    try {
      await forwardSegment(deps, segment, failed)
    } catch (error) {
      failed.push({ segment, error })
      if (!isRejection(error) || failed.length === MAX_REJECTED) break
    }
  }
  if (failed[0]) throw failed[0].error
  await sendRejected(deps)
}

/** A segment that could not be stored. */
interface Rejection {
  segment: Segment
  error: unknown
}

/** True if the same request would fail again. */
const isRejection = (error: unknown): error is AppError => error instanceof AppError && error.code === 'upstream'

/** Sends the segments again that an earlier process has set aside. */
async function sendRejected({ rejected, ...deps }: ForwardDeps): Promise<void> {
  for (let next = await rejected.next(); next; next = await rejected.next()) {
    const { segment, afterSeq } = next
    try {
      await store({ rejected, ...deps }, segment, { afterSeq, stored: () => {} })
      tx(deps.db, () => deps.batches.record(segment.batches))
      rejected.sent(segment, true)
    } catch (error) {
      if (!isRejection(error)) throw error
      rejected.sent(segment, false)
    }
  }
}

/** Keeps the files of rejected segments elsewhere, and empties the list. */
function setAside({ db, spool, batches, rejected, notifyOperator }: ForwardDeps, failed: Rejection[]): void {
  for (const { segment, error } of failed.splice(0)) {
    rejected.keep(segment, stateOf(db).committedSeq)
    tx(db, () => batches.record(segment.batches))
    spool.release(segment)
    notifyOperator({
      subject: `segment ${segment.name} can't be stored`,
      text: `${messageOf(error)}. Its file is in the folder rejected, and is sent again after the next start.`,
    })
  }
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

/** Stores the oldest segment except for those in `failed`, which are set aside if it is accepted. */
async function forwardSegment(deps: ForwardDeps, segment: Segment, failed: Rejection[]): Promise<void> {
  const { db, spool, batches } = deps
  if (!(await spool.repair(segment))) return
  const isRecorded = segment.batches.isForgotten
  const whole = isRecorded ? { ...segment, batches: await readBatches(segment) } : segment
  const { committedSeq } = stateOf(db)
  // Before the commit: the next start deletes all files in the spool that precede a committed segment.
  await store(deps, whole, { afterSeq: committedSeq, stored: () => setAside(deps, failed) })
  tx(db, () => {
    // Other collectors' batches were acknowledged here as well, so their repeats are recognised.
    if (!isRecorded) batches.record(segment.batches)
    recordCommitted(db, segment, spool.latest)
  })
  spool.release(segment)
  await rm(segment.path, { force: true })
}

/** Claims, inserts and commits a segment. `stored` is called once its events are in the event history. */
async function store(
  deps: ForwardDeps,
  segment: Segment,
  { afterSeq, stored }: { afterSeq: number; stored(): void },
): Promise<void> {
  const { db, control, outlet, instance, name } = deps
  const hashes = [...segment.batches.knownBatches()].map(({ hash }) => hash)
  const span = spanOf(segment, afterSeq)
  const sender = { instance, epoch: stateOf(db).epoch, segment: segment.name }
  const taken = await control.claim({ ...sender, span, hashes })
  const own = taken.size === 0 ? segment : await withoutTaken(deps, segment, taken)
  const scan = personalDataScan(db)
  const result = await outlet.insert(
    { ...own, pages: own.batches.notable.flatMap((batch) => batch.pages ?? []) },
    `${name}:${segment.name}`,
    scan.query,
  )
  stored()
  await control.commit({
    ...commitOf({ ...sender, span }, own.batches, result),
    sightings: limited(scan.sightings()),
  })
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
