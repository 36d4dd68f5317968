import { afterAll, describe, expect, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { testClock } from '../../test/fixtures.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { hashOf } from './batch-hash.ts'
import { readSpool } from './collector.fixture.ts'
import { type BatchRecord, CHECK_MARK, linesOf, SegmentEncoder } from './segment-file.ts'
import { recoverSegment, type SegmentDamage, segmentNotice } from './segment-recovery.ts'
import { Spool } from './spool.ts'

const root = mkdtempSync(join(tmpdir(), 'recovery-'))
afterAll(() => rmSync(root, { recursive: true }))

const NOTHING = { has: () => false, last: null, lastReceivedAt: 0, lastSeq: 0 }

/** Returns the batch with this number. It has `2 + number % 3` events. */
function batchOf(number: number) {
  const record: BatchRecord = {
    key: `dom_1 b${number}`,
    orgId: 'org_1',
    domainId: 'dom_1',
    receivedAt: number,
    ledger: [],
    answer: { accepted: 2 + (number % 3), rejected: 0, errors: [] },
  }
  const events = Array.from({ length: 2 + (number % 3) }, (_, n) =>
    plainEvent({ seq: number * 100 + n, receivedAt: number, params: { text: `é "${number}", ,"check":[1,2,3]}` } }),
  )
  return { record, events }
}

/** Returns the bytes of a segment with batches 0 to `count - 1`. */
function segmentOf(count: number): Buffer {
  const batches = Array.from({ length: count }, (_, number) => batchOf(number))
  return Buffer.from(new SegmentEncoder().encode(batches.map(({ events, record }) => linesOf(events, record))))
}

/** Like `segmentOf`, but in the format of versions without checksums. */
function oldSegmentOf(count: number): Buffer {
  const lines = Array.from({ length: count }, (_, number) => {
    const { record, events } = batchOf(number)
    const own = linesOf(events, record).lines.slice(0, -1)
    return [...own, JSON.stringify({ batch: record, lines: own.length })]
  })
  return Buffer.from(
    lines
      .flat()
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** Recovers a file with these bytes. Returns the batches it contains afterwards and the reported damage. */
function recovered(bytes: Uint8Array, isSealed = false) {
  const folder = mkdtempSync(join(root, 'spool-'))
  const path = join(folder, '000000000001.ndjson')
  writeFileSync(path, bytes)
  const damagedFolder = join(folder, 'damaged')
  const kept = recoverSegment(path, damagedFolder, isSealed)
  const { batches, events } = readSpool([path])
  const numbers = batches.map(({ receivedAt }) => receivedAt as number)
  expect([...kept.batches.knownBatches()].map(({ hash }) => hash)).toEqual(numbers.map((n) => hashOf(`dom_1 b${n}`)))
  expect(events.map(({ seq }) => seq)).toEqual(numbers.flatMap((n) => batchOf(n).events.map(({ seq }) => seq)))
  expect(kept.lastSeq).toBe(events.at(-1)?.seq ?? 0)
  expect(kept.sum).toBe(Bun.hash.crc32(readFileSync(path)))
  const copies = kept.damage ? readdirSync(damagedFolder).map((name) => readFileSync(join(damagedFolder, name))) : []
  expect(copies.map((copy) => copy.equals(bytes))).toEqual(kept.damage ? [true] : [])
  expect(readdirSync(folder).length).toBe(kept.damage ? 2 : 1)
  return { numbers, damage: kept.damage, again: recoverSegment(path, damagedFolder, isSealed).damage }
}

const except = (count: number, ...lost: number[]) =>
  Array.from({ length: count }, (_, n) => n).filter((n) => !lost.includes(n))

/** True for a digit of the event count in a checksum entry. The count is used only when the batch is lost. */
function isCount(bytes: Buffer, at: number): boolean {
  const check = bytes.lastIndexOf(CHECK_MARK, at)
  return check >= 0 && /^\d+$/.test(bytes.toString('latin1', check + CHECK_MARK.length, at + 1))
}

describe('a damaged byte', () => {
  test('affects only the batch that contains it; the loss is reported, and the file is copied unchanged', () => {
    const bytes = segmentOf(8)
    const length = bytes.length
    fc.assert(
      fc.property(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(bytes)
        damaged[at] = (damaged[at] ?? 0) ^ flip
        const { numbers, damage, again } = recovered(damaged)
        expect(numbers.length).toBeGreaterThanOrEqual(7)
        // A power cut may leave zeros at the end, from a batch that was not acknowledged.
        const looksTorn = damaged[at] === 0 && numbers.at(-1) !== 7
        if (isCount(bytes, at) && isCount(damaged, at)) expect([numbers.length, damage]).toEqual([8, null])
        else if (!looksTorn) expect(damage).toMatchObject({ at: expect.any(Number), batches: 8 - numbers.length })
        expect(again).toBeNull()
      }),
      { numRuns: 200, examples: [[bytes.indexOf(CHECK_MARK) + CHECK_MARK.length, 1]] },
    )
  })

  test('is reported with the number of lost events', () => {
    const bytes = segmentOf(5)
    bytes[bytes.indexOf('"seq":200') + 7] = 0x39
    expect(recovered(bytes)).toMatchObject({ numbers: except(5, 2), damage: { batches: 1, events: 4 } })
  })

  test('at each of ten positions in a file causes the loss of at most ten batches', () => {
    const bytes = segmentOf(100)
    for (let n = 0; n < 10; n++) {
      const at = Math.floor(((n + 0.5) * bytes.length) / 10)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    }
    const { numbers, damage } = recovered(bytes)
    expect(numbers.length).toBe(90)
    expect(damage).toMatchObject({ batches: 10 })
  })

  test('in place of a line ending causes no loss', () => {
    for (const count of [1, 2, 3]) {
      const bytes = segmentOf(3)
      bytes[segmentOf(count).length - 1] = 0x20
      expect(recovered(bytes)).toMatchObject({ numbers: [0, 1, 2], damage: { batches: 0 } })
    }
  })
})

test('overwriting, removing or inserting any bytes causes the loss of only the affected batches', () => {
  const bytes = segmentOf(12)
  const ends = [...Array(12).keys()].map((n) => segmentOf(n + 1).length)
  const piece = fc.record({ at: fc.nat(bytes.length - 1), length: fc.nat(400), more: fc.uint8Array({ maxLength: 60 }) })
  fc.assert(
    fc.property(piece, ({ at, length, more }) => {
      const end = Math.min(at + length, bytes.length)
      const damaged = Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(end)])
      const untouched = ends.flatMap((own, n) => (own <= at || (ends[n - 1] ?? 0) >= end ? [n] : []))
      const { numbers, again } = recovered(damaged)
      expect(untouched.filter((n) => !numbers.includes(n))).toEqual([])
      expect(numbers).toEqual([...new Set(numbers)])
      expect(again).toBeNull()
    }),
    { numRuns: 150 },
  )
})

describe('an incomplete end of a file', () => {
  test('is truncated silently in the last file, and reported in a sealed one', () => {
    const bytes = segmentOf(3)
    const second = segmentOf(2).length
    for (let cut = second + 1; cut < bytes.length; cut += 7) {
      expect(recovered(bytes.subarray(0, cut))).toMatchObject({ numbers: [0, 1], damage: null })
      expect(recovered(bytes.subarray(0, cut), true)).toMatchObject({
        numbers: [0, 1],
        damage: { batches: 1, at: second },
      })
    }
  })
})

describe('a file from a version without checksums', () => {
  test('is read unchanged', () => {
    expect(recovered(oldSegmentOf(5))).toEqual({ numbers: [0, 1, 2, 3, 4], damage: null, again: null })
    expect(recovered(oldSegmentOf(5).subarray(0, -3))).toEqual({ numbers: [0, 1, 2, 3], damage: null, again: null })
  })

  test('is read even after a damaged line', () => {
    const bytes = oldSegmentOf(5)
    bytes[bytes.indexOf('{"batch":{"key":"dom_1 b1"') + 3] = 0x01
    // The end of the damaged batch is unknown, so its events are added to the count for the next batch.
    expect(recovered(bytes)).toMatchObject({ numbers: [0, 3, 4], damage: { batches: 1 } })
  })
})

test('copies of damaged files are limited in size, and the newest are retained', () => {
  const folder = mkdtempSync(join(root, 'spool-'))
  const damagedFolder = join(folder, 'damaged')
  mkdirSync(damagedFolder)
  for (const name of ['old', 'older']) {
    writeFileSync(join(damagedFolder, name), '')
    truncateSync(join(damagedFolder, name), 200 * 1024 * 1024)
  }
  const path = join(folder, '000000000001.ndjson')
  const bytes = segmentOf(3)
  bytes[10] = 0x01
  writeFileSync(path, bytes)
  const { damage } = recoverSegment(path, damagedFolder, false)
  const names = readdirSync(damagedFolder)
  expect(names.length).toBe(2)
  expect(damage?.copy).toBe(join(damagedFolder, names.find((name) => name.endsWith('.ndjson')) ?? ''))
})

describe('a running spool', () => {
  async function sealed(count: number) {
    const folder = mkdtempSync(join(root, 'spool-'))
    const clock = testClock()
    const told: SegmentDamage[] = []
    const options = {
      damagedFolder: join(folder, 'damaged'),
      damaged: (damage: SegmentDamage) => void told.push(damage),
    }
    const spool = new Spool(folder, clock, NOTHING, options)
    for (let n = 0; n < count; n++) {
      const { events, record } = batchOf(n)
      await spool.append(events, { ...record, receivedAt: clock.now() })
    }
    await spool.seal()
    const [segment] = spool.segments()
    if (!segment) throw new Error('expected a segment')
    return { spool, segment, told, clock }
  }

  test('detects damage before a segment is loaded, forgets the lost batches, and retains the intact ones', async () => {
    const { spool, segment, told } = await sealed(6)
    expect(await spool.repair(segment)).toBe(true)
    expect(told).toEqual([])
    const bytes = readFileSync(segment.path)
    bytes[bytes.indexOf('"seq":300') + 7] = 0x39
    writeFileSync(segment.path, bytes)
    expect(await spool.repair(segment)).toBe(true)
    expect(told).toMatchObject([{ path: segment.path, batches: 1, events: 2 }])
    expect(spool.answerOf(hashOf('dom_1 b3'))).toBeNull()
    expect(spool.answerOf(hashOf('dom_1 b4'))).toMatchObject({ accepted: 3 })
    expect(await spool.repair(segment)).toBe(true)
    expect(told.length).toBe(1)
    await spool.close()
  })

  test('reports the number of truncated batches', async () => {
    const { spool, segment, told } = await sealed(6)
    truncateSync(segment.path, Math.floor(statSync(segment.path).size / 2))
    expect(await spool.repair(segment)).toBe(true)
    expect(told).toMatchObject([{ batches: 6 - segment.batches.size }])
    expect(segment.batches.size).toBeLessThan(4)
    await spool.close()
  })

  test('waits a minute for a missing file, then reports it and accepts repeats of its batches', async () => {
    const { spool, segment, told, clock } = await sealed(3)
    rmSync(segment.path)
    expect(spool.files()).toEqual([])
    expect(spool.repair(segment)).rejects.toThrow('missing')
    clock.advance(MINUTE_MS - SECOND_MS)
    expect(spool.repair(segment)).rejects.toThrow('missing')
    clock.advance(SECOND_MS)
    expect(await spool.repair(segment)).toBe(false)
    expect(told).toMatchObject([{ path: segment.path, copy: null, batches: 3 }])
    expect([spool.segments(), spool.answerOf(hashOf('dom_1 b1'))]).toEqual([[], null])
    await spool.close()
  })
})

test('the e-mail to the operator names the file, the loss and the copy', () => {
  const damage = { path: '/d/spool/1.ndjson', copy: '/d/damaged/1-ab.ndjson', at: 4711, batches: 2, events: 30 }
  const { subject, text } = segmentNotice([damage])
  expect(subject).toBe('spool files are damaged: 2 acknowledged batches lost (30 known events)')
  expect(text).toContain('/d/spool/1.ndjson is damaged from byte 4711; a copy was saved as /d/damaged/1-ab.ndjson.')
  expect(segmentNotice([{ ...damage, batches: 0, events: 0 }]).subject).toContain('no data lost')
})
