import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { nullIfMissing } from '../core/file-checksum.ts'
import { syncFolder } from '../store/private-file.ts'
import { BatchLog } from './segment-batches.ts'
import { LINE_END } from './segment-file.ts'
import { type BrokenPiece, type IntactBatch, readSegment } from './segment-reader.ts'

/** The intact content of a file. */
export interface RecoveredSegment {
  batches: BatchLog
  /** `seq` of the last event; 0 if there are no events. */
  lastSeq: number
  /** CRC-32 of the file after recovery. */
  sum: number
  /** Committed data that can no longer be read; null if there is no damage. */
  damage: SegmentDamage | null
}

export interface SegmentDamage {
  /** Path of the segment. */
  path: string
  /** Path of a copy of the damaged file; null if the file was missing or empty. */
  copy: string | null
  /** Byte offset of the first damaged byte. */
  at: number
  /** Number of lost batches. */
  batches: number
  /** Number of events in the lost batches, where known. */
  events: number
}

/** Returns the e-mail to the operator about damaged spool files. `damages` must not be empty. */
export function segmentNotice(damages: readonly SegmentDamage[]): { subject: string; text: string } {
  const batches = damages.reduce((sum, damage) => sum + damage.batches, 0)
  const events = damages.reduce((sum, damage) => sum + damage.events, 0)
  const lost = batches === 0 ? 'no data lost' : `${batches} acknowledged batches lost (${events} known events)`
  const files = damages.map(({ path, copy, at }) =>
    copy === null ? `${path} is missing or empty.` : `${path} is damaged from byte ${at}; a copy was saved as ${copy}.`,
  )
  const rest = batches === 0 ? '' : ' All other batches were read. If a sender repeats a lost batch, it is accepted.'
  return { subject: `spool files are damaged: ${lost}`, text: `${files.join(' ')}${rest} Check the disk for errors.` }
}

/**
 * Reduces a file to its intact batches and returns them. An uncommitted batch at the end, such as one left by a killed
 * process, is truncated. A damaged file is first copied to `damagedFolder` (at most 256 MiB in total). With `isSealed`,
 * everything in the file was committed, so an incomplete end is treated as damage. A missing file is treated as empty.
 */
export function recoverSegment(path: string, damagedFolder: string, isSealed: boolean): RecoveredSegment {
  const bytes = readIfThere(path)
  const { intact, broken, isTorn } = readSegment(bytes ?? Buffer.alloc(0))
  const tail = isTorn && !isSealed && broken.at(-1)?.end === bytes?.length ? broken.pop() : undefined
  const lastSeq = intact.reduce((last, batch) => batch.lastSeq ?? last, 0)
  const batches = BatchLog.of(intact.map(({ record }) => record))
  const isGone = bytes === null || (isSealed && bytes.length === 0)
  if (isGone) return { batches, lastSeq, sum: 0, damage: { path, copy: null, ...NOTHING_LOST } }
  const [first] = broken
  if (!first) {
    if (tail) truncateSync(path, tail.start)
    return { batches, lastSeq, sum: Bun.hash.crc32(bytes.subarray(0, tail?.start)), damage: null }
  }
  const kept = joined(bytes, intact)
  const copy = replaceDamaged(path, kept, damagedFolder)
  const damage = { path, copy, at: first.start, ...lostIn(broken) }
  return { batches, lastSeq, sum: Bun.hash.crc32(kept), damage }
}

const NOTHING_LOST = { at: 0, batches: 0, events: 0 }

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    return nullIfMissing(error)
  }
}

function lostIn(broken: readonly BrokenPiece[]): { batches: number; events: number } {
  return {
    batches: broken.reduce((sum, piece) => sum + piece.batches, 0),
    events: broken.reduce((sum, piece) => sum + piece.events, 0),
  }
}

function joined(bytes: Buffer, intact: readonly IntactBatch[]): Buffer {
  const end = Buffer.from([LINE_END])
  return Buffer.concat(intact.flatMap((batch) => [bytes.subarray(batch.start, batch.end), end]))
}

const MAX_DAMAGED_BYTES = 256 * 1024 * 1024

/**
 * Replaces the content of a file with `kept`, after copying the file to `damagedFolder`. Returns the path of the copy.
 * If the process is killed, the old content remains in at least one of the two locations.
 */
function replaceDamaged(path: string, kept: Buffer, damagedFolder: string): string {
  const draft = `${path}.draft`
  writeFileSync(draft, kept, { mode: 0o600, flush: true })
  mkdirSync(damagedFolder, { recursive: true, mode: 0o700 })
  const name = `${basename(path, '.ndjson')}-${Bun.hash.crc32(readFileSync(path)).toString(16)}.ndjson`
  const copy = join(damagedFolder, name)
  rmSync(copy, { force: true })
  linkSync(path, copy)
  renameSync(draft, path)
  for (const folder of [damagedFolder, dirname(path)]) syncFolder(folder)
  makeRoom(damagedFolder, basename(copy))
  return copy
}

/** Deletes the oldest files in the folder while it exceeds its limit, but never `newest`. */
function makeRoom(folder: string, newest: string): void {
  const files = readdirSync(folder).map((name) => ({ name, ...statOf(join(folder, name)) }))
  let bytes = files.reduce((sum, { size }) => sum + size, 0)
  for (const { name, size } of files.sort((a, b) => a.changedAt - b.changedAt)) {
    if (bytes <= MAX_DAMAGED_BYTES) return
    if (name === newest) continue
    rmSync(join(folder, name), { force: true })
    bytes -= size
  }
}

function statOf(path: string) {
  const { size, ctimeMs } = statSync(path)
  return { size, changedAt: ctimeMs }
}
