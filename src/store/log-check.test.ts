import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { openDatabase } from './database.ts'
import { inspectDatabase } from './inspect.ts'
import { faultOfLog } from './log-check.ts'

const root = mkdtempSync(join(tmpdir(), 'log-check-'))
afterAll(() => rmSync(root, { recursive: true }))

const CHANGES = 40
const FRAME_BYTES = 24 + 4096

/** A database of which 40 changes are in the log only, behind frames of an earlier round. */
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
/** What is found in a copy whose log was changed so. */
function faultAfter(change: (log: string) => void): string | null {
  const copy = join(root, `copy-${++copies}.db`)
  for (const end of ['', '-wal', '-shm']) cpSync(whole + end, copy + end)
  change(`${copy}-wal`)
  const fault = faultOfLog(copy)
  for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
  return fault
}

const flip = (at: number) => (log: string) => {
  const bytes = readFileSync(log)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x15, at)
  writeFileSync(log, bytes)
}

/** Frames of this round: one for each change, or two where it began a page. */
const frames = (() => {
  const log = readFileSync(`${whole}-wal`)
  let count = 0
  while (log.subarray(32 + count * FRAME_BYTES + 8, 32 + count * FRAME_BYTES + 16).equals(log.subarray(16, 24))) count++
  return count
})()

describe('a write-ahead log', () => {
  test('as it was written, behind it frames of an earlier round, has no fault', () => {
    expect(frames).toBeGreaterThanOrEqual(CHANGES)
    expect(readFileSync(`${whole}-wal`).length).toBeGreaterThan(32 + frames * FRAME_BYTES)
    expect(faultOfLog(whole)).toBeNull()
    expect(inspectDatabase(whole).kind).toBe('sound')
  })

  test('of which one byte changed is known to be damaged, wherever that is before the last two changes', () => {
    const places = fc.integer({ min: 0, max: 32 + (frames - 4) * FRAME_BYTES - 1 })
    fc.assert(
      fc.property(places, (at) => {
        const readable = Math.floor((at - 32) / FRAME_BYTES)
        const expected = at < 32 ? "can't be read" : `can be read for ${readable} pages;`
        // Salt of the head, or magic: then no frame seems to be of its round.
        expect(faultAfter(flip(at))).toStartWith(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('of which the last change is not whole, as after a power cut, has no fault', () => {
    expect(faultAfter(flip(32 + (frames - 1) * FRAME_BYTES + 100))).toBeNull()
  })

  test('that ends anywhere has no fault: nobody can tell', () => {
    for (const share of [0, 0.3, 0.77]) {
      expect(faultAfter((log) => truncateSync(log, Math.floor((32 + frames * FRAME_BYTES) * share)))).toBeNull()
    }
  })

  test('that is gone, and was not taken away with its index, is missing', () => {
    expect(faultAfter((log) => rmSync(log))).toBe('is gone')
    const closed = join(root, 'closed.db')
    openDatabase(closed).close()
    expect([faultOfLog(closed), existsSync(`${closed}-shm`)]).toEqual([null, false])
  })
})
