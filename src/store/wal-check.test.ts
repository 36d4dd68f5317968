import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { openDatabase } from './database.ts'
import { inspectDatabase } from './inspect-database.ts'
import { walFault } from './wal-check.ts'

const root = mkdtempSync(join(tmpdir(), 'log-check-'))
afterAll(() => rmSync(root, { recursive: true }))

const CHANGES = 40
const FRAME_BYTES = 24 + 4096

/**
 * A database with 40 changes that are only in the log. Frames from an earlier generation of the log follow these
 * changes.
 */
const whole = (() => {
  const db = openDatabase(join(root, 'live.db'))
  db.exec('CREATE TABLE mark (n INTEGER, text TEXT) STRICT')
  const change = (n: number) => db.prepare('INSERT INTO mark VALUES (?, ?)').run(n, `change ${n} `.repeat(50))
  for (let n = 0; n < 2 * CHANGES; n++) change(n)
  db.pragma('wal_checkpoint(RESTART)')
  for (let n = 0; n < CHANGES; n++) change(n)
  const copy = join(root, 'whole.db')
  for (const end of ['', '-wal', '-shm']) cpSync(join(root, `live.db${end}`), copy + end)
  db.close()
  return copy
})()

let copies = 0
/** Applies a change to the log of a copy of the database, and returns the fault found. */
function faultAfter(change: (log: string) => void): string | null {
  const copy = join(root, `copy-${++copies}.db`)
  for (const end of ['', '-wal', '-shm']) cpSync(whole + end, copy + end)
  change(`${copy}-wal`)
  const fault = walFault(copy)
  for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
  return fault
}

const flip = (at: number) => (log: string) => {
  const bytes = readFileSync(log)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x15, at)
  writeFileSync(log, bytes)
}

/** Number of frames written since the last checkpoint: one for each change, or two if the change started a new page. */
const frames = (() => {
  const log = readFileSync(`${whole}-wal`)
  let count = 0
  while (log.subarray(32 + count * FRAME_BYTES + 8, 32 + count * FRAME_BYTES + 16).equals(log.subarray(16, 24))) count++
  return count
})()

describe('a write-ahead log', () => {
  test('is intact as written, even with frames from an earlier generation at its end', () => {
    expect(frames).toBeGreaterThanOrEqual(CHANGES)
    expect(readFileSync(`${whole}-wal`).length).toBeGreaterThan(32 + frames * FRAME_BYTES)
    expect(walFault(whole)).toBeNull()
    expect(inspectDatabase(whole).kind).toBe('sound')
  })

  test('is damaged when any byte before the last two changes is modified', () => {
    const places = fc.integer({ min: 0, max: 32 + (frames - 4) * FRAME_BYTES - 1 })
    fc.assert(
      fc.property(places, (at) => {
        const readable = Math.floor((at - 32) / FRAME_BYTES)
        const expected = at < 32 ? 'is unreadable' : `is readable for ${readable} pages,`
        // If the salt or the magic number in the header is damaged, no frame appears to belong to the current
        // generation.
        expect(faultAfter(flip(at))).toStartWith(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('is intact when only its last change is incomplete, as after a power cut', () => {
    expect(faultAfter(flip(32 + (frames - 1) * FRAME_BYTES + 100))).toBeNull()
  })

  test('is considered intact when truncated at any point, because this is undetectable', () => {
    for (const share of [0, 0.3, 0.77]) {
      expect(faultAfter((log) => truncateSync(log, Math.floor((32 + frames * FRAME_BYTES) * share)))).toBeNull()
    }
  })

  test('is reported as missing when it has been deleted but its index still exists', () => {
    expect(faultAfter((log) => rmSync(log))).toBe('is missing')
    const closed = join(root, 'closed.db')
    openDatabase(closed).close()
    expect([walFault(closed), existsSync(`${closed}-shm`)]).toEqual([null, false])
  })
})
