import { afterAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { TEST_START, type TestClock, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { plainEvent } from '../core/event.fixture.ts'
import type { StoredEvent } from '../core/event.ts'
import { hashOf } from './batch-hash.ts'
import { readSpool } from './collector.fixture.ts'
import type { BatchRecord } from './segment-file.ts'
import { Spool, type SpoolOptions } from './spool.ts'

const root = mkdtempSync(join(tmpdir(), 'spool-'))
const disk = tinyDisk(join(root, 'disk'))
afterAll(() => {
  if (disk !== null) Bun.spawnSync(['umount', disk])
  rmSync(root, { recursive: true })
})
const newFolder = () => mkdtempSync(join(root, 'data-'))

/** Mounts a file system of 256 KiB; returns null if this user may not mount one. */
function tinyDisk(folder: string): string | null {
  mkdirSync(folder)
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stderr: 'ignore' })
  return exitCode === 0 ? folder : null
}

const NOTHING: ConstructorParameters<typeof Spool>[2] = { has: () => false, last: null, lastReceivedAt: 0, lastSeq: 0 }

interface Opened {
  folder: string
  clock: TestClock
  spool: Spool
}

function open(folder = newFolder(), clock = testClock(), loaded = NOTHING, options: SpoolOptions = {}): Opened {
  return { folder, clock, spool: new Spool(folder, clock, loaded, options) }
}

let made = 0

/** Returns a batch with this number of events, in the format that the collector creates. */
function batchOf(spool: Spool, count: number, values: Partial<StoredEvent> = {}): [StoredEvent[], BatchRecord] {
  const receivedAt = spool.arrivalAt()
  const key = `dom_1 batch-${++made}`
  const events = Array.from({ length: count }, (): StoredEvent => {
    const seq = spool.nextSeq()
    const params = { n: String(seq), text: 'line\nbreak "{" \u2028' }
    return plainEvent({ seq, id: `${key} ${seq}`, receivedAt, vendor: 'V', event: 'e', params, ...values })
  })
  const answer = { accepted: count, rejected: 0, errors: [] }
  return [events, { key, orgId: 'org_1', domainId: 'dom_1', receivedAt, answer, ledger: [] }]
}

async function append(spool: Spool, count = 1, values: Partial<StoredEvent> = {}): Promise<StoredEvent[]> {
  const [events, record] = batchOf(spool, count, values)
  await spool.append(events, record)
  return events
}

const idsIn = (spool: Spool) => readSpool(spool.files()).events.map(({ id }) => id)
const keysIn = (spool: Spool) => readSpool(spool.files()).batches.map(({ key }) => key)
const idsOf = (events: readonly StoredEvent[]) => events.map(({ id }) => id)

/** Returns the error message; null if the batch was accepted. */
async function refusal(spool: Spool, count = 1, values: Partial<StoredEvent> = {}): Promise<string | null> {
  try {
    await append(spool, count, values)
    return null
  } catch (error) {
    expect(error).toMatchObject({ name: 'AppError', code: 'unavailable', retryAfterS: 5 })
    return (error as Error).message
  }
}

describe('an appended batch', () => {
  test('is on disk when the promise resolves, with its events in order, followed by its record', async () => {
    const { spool } = open()
    const [events, record] = batchOf(spool, 3, { violations: ['alr_1'], host: 'a.example', execMs: 0 })
    await spool.append(events, record)
    const [path] = spool.files()
    const stored = readSpool(path ? [path] : [])
    expect(stored.batches).toEqual([expect.objectContaining(record)])
    // Null values are omitted from the lines.
    const known = events.map(({ segments: _, ...event }) =>
      Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null)),
    )
    expect(stored.events as unknown[]).toEqual(known)
    await spool.close()
  })

  test('is found again in append order, regardless of how many batches share a sync', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(4), fc.boolean()), { maxLength: 40 }), async (steps) => {
        const { spool } = open()
        const expected: string[] = []
        const keys: string[] = []
        const answers: Promise<void>[] = []
        for (const [count, wait] of steps) {
          const [events, record] = batchOf(spool, count)
          expected.push(...idsOf(events))
          keys.push(record.key ?? '')
          answers.push(spool.append(events, record))
          if (wait) await answers.at(-1)
        }
        await Promise.all(answers)
        expect(idsIn(spool)).toEqual(expected)
        expect(keysIn(spool)).toEqual(keys)
        await spool.close()
        // Syncs may finish in a different order from the one in which they started.
        const sealed = spool.segments().flatMap(({ batches }) => [...batches.knownBatches()].map(({ hash }) => hash))
        expect(sealed.toSorted()).toEqual(keys.map(hashOf).toSorted())
      }),
      { numRuns: 30 },
    )
  })

  test('is written before the spool is closed', async () => {
    const { spool } = open()
    const answers = Array.from({ length: 50 }, () => append(spool, 2))
    await spool.close()
    expect((await Promise.all(answers)).flat().map(({ id }) => id)).toEqual(idsIn(spool))
    expect(spool.segments().length).toBe(1)
  })
})

describe('a spool segment', () => {
  test('contains one hour', async () => {
    const { spool, clock } = open()
    clock.set(TEST_START + HOUR_MS - 1)
    await append(spool)
    clock.advance(1)
    await append(spool)
    await append(spool)
    clock.advance(HOUR_MS)
    await append(spool)
    await spool.seal()
    expect(spool.segments().map(({ name }) => name)).toEqual(['000000000001', '000000000002', '000000000003'])
    expect(spool.segments().map(({ batches }) => batches.size)).toEqual([1, 2, 1])
  })

  test('contains one hour when the clock is set back, and later events have the new time and higher numbers', async () => {
    const { spool, clock } = open()
    const [before, record] = batchOf(spool, 2)
    const written = spool.append(before, record)
    const last = spool.latest
    expect([last.receivedAt, spool.isWritten(last.seq)]).toEqual([TEST_START, false])
    clock.advance(-3 * HOUR_MS)
    spool.setBack(clock.now())
    const [after, next] = batchOf(spool, 2)
    expect([next.receivedAt, (after[0]?.seq ?? 0) > last.seq]).toEqual([clock.now(), true])
    const later = spool.append(after, next)
    // A batch received before the clock was set back is still waiting to be written. Only times before both batches are
    // final.
    expect(spool.watermark()).toBe(clock.now())
    await written
    expect(spool.isWritten(last.seq)).toBe(true)
    await later
    await spool.seal(0)
    expect(spool.segments().map(({ batches }) => batches.firstReceivedAt)).toEqual([TEST_START, clock.now()])
  })

  test('contains one hour even if the hour ends while batches wait for the disk', async () => {
    const { folder, spool, clock } = open()
    const hours: number[] = []
    const sent = [20, 10, 5, 0, -5, -HOUR_MS, -HOUR_MS - 5].map((beforeMs) => {
      clock.set(TEST_START + HOUR_MS - beforeMs)
      const [events, record] = batchOf(spool, 2)
      hours.push(Math.floor(record.receivedAt / HOUR_MS))
      const stored = spool.append(events, record)
      expect(spool.watermark()).toBe(TEST_START + HOUR_MS - 20)
      return { ids: idsOf(events), stored }
    })
    await Promise.all(sent.map(({ stored }) => stored))
    expect(spool.watermark()).toBe(clock.now())
    await spool.close()
    expect(spool.segments().map(({ batches }) => batches.size)).toEqual([3, 2, 2])
    for (const { batches } of spool.segments()) {
      const [first, last] = [batches.firstReceivedAt, batches.lastReceivedAt].map((at) => Math.floor(at / HOUR_MS))
      expect(first).toBe(last)
    }
    expect(new Set(hours).size).toBe(3)
    expect(idsIn(spool)).toEqual(sent.flatMap(({ ids }) => ids))
    expect(idsIn(open(folder, clock).spool)).toEqual(idsIn(spool))
  })

  test('receives no further batches after it reaches its size limit', async () => {
    const { spool } = open(newFolder(), testClock(), NOTHING, { maxSegmentBytes: 2000 })
    for (let n = 0; n < 12; n++) await append(spool, 1)
    await spool.close()
    const sizes = spool.files().map((path) => statSync(path).size)
    expect(sizes.length).toBeGreaterThan(1)
    for (const size of sizes.slice(0, -1)) {
      expect(size).toBeGreaterThanOrEqual(2000)
      expect(size).toBeLessThan(3000)
    }
    expect(idsIn(spool).length).toBe(12)
  })

  test('is omitted from a window in which none of its events were received', async () => {
    const { spool, clock } = open()
    const first = clock.now()
    await append(spool, 1)
    clock.advance(10)
    await append(spool, 1)
    await spool.seal()
    clock.advance(10)
    await append(spool, 1)
    const files = spool.files()
    const of = (from: number, to: number) =>
      spool.files({ from: first + from, to: first + to }).map((path) => files.indexOf(path))
    expect([of(0, 1), of(5, 6), of(10, 11), of(10, 21), of(11, 20), of(20, 21), of(-5, 0), of(21, 99)]).toEqual([
      [0],
      [0],
      [0],
      [0, 1],
      [],
      [1],
      [],
      [],
    ])
    await spool.close()
  })

  test('is sealed at the given age, unless it is empty', async () => {
    const { spool, clock } = open()
    await spool.seal()
    expect(spool.segments()).toEqual([])
    await append(spool)
    clock.advance(MINUTE_MS - 1)
    await spool.seal(MINUTE_MS)
    expect(spool.segments()).toEqual([])
    clock.advance(1)
    await spool.seal(MINUTE_MS)
    expect(spool.segments().length).toBe(1)
    await spool.seal()
    expect(spool.segments().length).toBe(1)
    await append(spool)
    await spool.close()
    expect(spool.segments().length).toBe(2)
  })

  test('that was released is no longer read, and the caller deletes its file', async () => {
    const { spool } = open()
    await append(spool)
    await spool.seal()
    const last = await append(spool)
    const [segment] = spool.segments()
    if (!segment) throw new Error('expected a segment')
    spool.release(segment)
    spool.release(segment)
    expect(idsIn(spool)).toEqual(idsOf(last))
    expect(statSync(segment.path).size).toBeGreaterThan(0)
    await spool.close()
  })
})

describe('the time and order of events', () => {
  test('never go backwards, regardless of the clock', async () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: -HOUR_MS, max: HOUR_MS }), fc.nat(3000)), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(steps, async (moves) => {
        const { spool, clock } = open()
        let [lastAt, lastSeq] = [0, 0]
        for (const [move, count] of moves) {
          clock.advance(move)
          const at = spool.arrivalAt()
          expect(at).toBeGreaterThanOrEqual(lastAt)
          expect(at).toBeGreaterThanOrEqual(clock.now())
          lastAt = at
          for (let n = 0; n < count; n++) {
            const seq = spool.nextSeq()
            if (seq <= lastSeq || seq > Number.MAX_SAFE_INTEGER) throw new Error(`${seq} follows ${lastSeq}`)
            lastSeq = seq
          }
        }
        await spool.close()
      }),
    )
  })

  test('continue after a restart, both from the spool and from loaded segments', async () => {
    const counts = fc.array(fc.integer({ min: 1, max: 2500 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(counts, fc.boolean(), fc.integer({ min: -HOUR_MS, max: 5 }), async (counts, isLoaded, move) => {
        const { folder, clock, spool } = open()
        const before: StoredEvent[] = []
        for (const count of counts) before.push(...(await append(spool, count, { params: {} })))
        await spool.close()
        const last = before.at(-1)
        clock.advance(move)
        const loaded = {
          has: () => true,
          last: '000000000001',
          lastReceivedAt: last?.receivedAt ?? 0,
          lastSeq: last?.seq ?? 0,
        }
        const again = open(folder, clock, isLoaded ? loaded : NOTHING)
        expect(again.spool.arrivalAt()).toBeGreaterThanOrEqual(last?.receivedAt ?? 0)
        const after = await append(again.spool, 3)
        const seqs = [...before, ...after].map(({ seq }) => seq)
        expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
        await again.spool.close()
      }),
      { numRuns: 15 },
    )
  })

  test('segment names are never reused', async () => {
    const folder = newFolder()
    const names: string[] = []
    const loaded = { ...NOTHING, last: null as string | null, has: (name: string) => names.includes(name) }
    for (let round = 0; round < 4; round++) {
      const { spool } = open(folder, testClock(), loaded)
      await append(spool)
      await spool.close()
      const [segment, ...more] = spool.segments()
      expect(more).toEqual([])
      names.push(segment?.name ?? '')
      loaded.last = segment?.name ?? null
      // The flush has removed half of the files. The other half still exists when the next process starts.
      if (round % 2 === 0 && segment) unlinkSync(segment.path)
    }
    expect(names).toEqual(['000000000001', '000000000002', '000000000003', '000000000004'])
  })
})

describe('the watermark', () => {
  test('never passes a batch that is not yet on disk and visible', async () => {
    const { spool, clock } = open()
    const receivedAt = new Map<string, number>()
    const answers: Promise<void>[] = []
    const look = () => {
      const watermark = spool.watermark()
      const visible = new Set(keysIn(spool))
      for (const [key, at] of receivedAt) if (at < watermark) expect(visible.has(key)).toBe(true)
    }
    for (let n = 0; n < 200; n++) {
      clock.advance(n % 3)
      const [events, record] = batchOf(spool, 2)
      receivedAt.set(record.key ?? '', record.receivedAt)
      answers.push(spool.append(events, record))
      look()
      if (n % 5 === 0) await new Promise(setImmediate)
      if (n % 20 === 0) await answers[n - 10]
      look()
    }
    await Promise.all(answers)
    expect(spool.watermark()).toBe(clock.now())
    look()
    await spool.close()
  })

  test('is the current time while no batch is being written, and no later batch is before it', async () => {
    const { spool, clock } = open()
    clock.advance(10)
    const watermark = spool.watermark()
    expect(watermark).toBe(clock.now())
    clock.advance(-5)
    const [event] = await append(spool)
    expect(event?.receivedAt).toBe(watermark)
    await spool.close()
  })
})

describe('after a crash', () => {
  /** Returns the bytes of a segment and the end of each of its batches. */
  async function segmentOf(counts: readonly number[]) {
    const { spool } = open()
    const ends: number[] = []
    const batches: { key: string | null; ids: string[] }[] = []
    for (const count of counts) {
      const [events, record] = batchOf(spool, count)
      await spool.append(events, record)
      batches.push({ key: record.key, ids: idsOf(events) })
      ends.push(statSync(spool.files()[0] ?? '').size)
    }
    const bytes = readFileSync(spool.files()[0] ?? '')
    await spool.close()
    return { bytes, ends, batches }
  }

  /** Opens a spool on these bytes. The spool must contain exactly these batches. */
  function expectKept(bytes: Uint8Array, batches: readonly { key: string | null; ids: string[] }[]): void {
    const folder = newFolder()
    writeFileSync(join(folder, '000000000007.ndjson'), bytes)
    const { spool } = open(folder)
    expect(spool.segments().map(({ name }) => name)).toEqual(batches.length > 0 ? ['000000000007'] : [])
    expect(idsIn(spool)).toEqual(batches.flatMap(({ ids }) => ids))
    const keys = batches.map(({ key }) => key)
    expect(keysIn(spool)).toEqual(keys)
    const known = spool.segments().flatMap((segment) => [...segment.batches.knownBatches()].map(({ hash }) => hash))
    expect(known).toEqual(keys.flatMap((key) => (key === null ? [] : [hashOf(key)])))
    expect(readdirSync(folder).length).toBe(batches.length > 0 ? 1 : 0)
    rmSync(folder, { recursive: true })
  }

  test('at any byte, exactly the committed batches are kept, with each event once', async () => {
    const { bytes, ends, batches } = await segmentOf([1, 0, 2])
    for (let cut = 0; cut <= bytes.length; cut++) {
      const whole = ends.filter((end) => end <= cut).length
      expectKept(bytes.subarray(0, cut), batches.slice(0, whole))
    }
  })

  test('with any bytes after the last commit, exactly the committed batches are kept', async () => {
    const { bytes, ends, batches } = await segmentOf([2, 1, 2])
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 50 }),
      fc.constantFrom(
        '\n',
        '\0\0\0\n',
        '{"batch":',
        '{"batch":\n',
        '{"batch":{"key":\n',
        '{"seq": 1}\n',
        '\n\n{"batch":null}\n',
      ),
    )
    fc.assert(
      fc.property(fc.nat(ends.length), fc.nat(200), fc.array(garbage, { maxLength: 3 }), (kept, more, tail) => {
        const end = ends[kept - 1] ?? 0
        // The number of bytes is too small for the next batch to be complete.
        const next = bytes.subarray(end, Math.min(end + more, (ends[kept] ?? end) - 1))
        const parts = [bytes.subarray(0, end), next, ...tail.map((part) => Buffer.from(part as string))]
        expectKept(Buffer.concat(parts), batches.slice(0, kept))
      }),
      { numRuns: 300 },
    )
  })

  test('of the machine, which may leave holes in unsynced data, no batch is kept in part', async () => {
    const { bytes, ends, batches } = await segmentOf([2, 3])
    const first = ends[0] ?? 0
    fc.assert(
      fc.property(fc.nat(bytes.length - first - 1), fc.integer({ min: 1, max: 300 }), (at, length) => {
        const holed = Buffer.from(bytes)
        holed.fill(0, first + at, Math.min(first + at + length, holed.length))
        expectKept(holed, batches.slice(0, 1))
      }),
      { numRuns: 300 },
    )
  })

  test('segments already in the warehouse are removed, the remaining segments are kept in order, and other files are unchanged', async () => {
    const folder = newFolder()
    const { bytes, batches } = await segmentOf([1])
    for (const n of [3, 10, 2, 1]) writeFileSync(join(folder, `${String(n).padStart(12, '0')}.ndjson`), bytes)
    writeFileSync(join(folder, 'lock'), 'x')
    writeFileSync(join(folder, 'notes.ndjson'), 'x')
    const loaded = { ...NOTHING, has: (name: string) => Number(name) < 3, last: '000000000002' }
    const { spool } = open(folder, testClock(), loaded)
    expect(spool.segments().map(({ name }) => name)).toEqual(['000000000003', '000000000010'])
    await append(spool)
    await spool.close()
    expect(
      spool
        .segments()
        .map(({ name }) => name)
        .at(-1),
    ).toBe('000000000011')
    expect(readdirSync(folder).toSorted()).toEqual([
      '000000000003.ndjson',
      '000000000010.ndjson',
      '000000000011.ndjson',
      'lock',
      'notes.ndjson',
    ])
    expect(batches.length).toBe(1)
  })

  test('during many appends, acknowledged batches are kept, each exactly once', async () => {
    for (let round = 0; round < 10; round++) {
      const { folder, clock, spool } = open(newFolder(), testClock(), NOTHING, { maxSegmentBytes: 3000 })
      const acknowledged = new Set<string>()
      const answers: Promise<void>[] = []
      for (let n = 0; n < 30; n++) {
        const [events, record] = batchOf(spool, n % 4)
        answers.push(spool.append(events, record).then(() => void acknowledged.add(record.key ?? '')))
        if (n % 7 === round % 7) await Promise.race(answers.slice(-3))
      }
      const copy = `${folder}+`
      const known = new Set(acknowledged)
      cpSync(folder, copy, { recursive: true })
      const recovered = open(copy, clock).spool
      const [keys, ids] = [keysIn(recovered), idsIn(recovered)]
      expect(new Set(keys).size).toBe(keys.length)
      expect(new Set(ids).size).toBe(ids.length)
      expect([...known].filter((key) => !keys.includes(key))).toEqual([])
      for (const { answer, key } of readSpool(recovered.files()).batches) {
        expect(ids.filter((id) => id.startsWith(`${key} `)).length).toBe(answer.accepted)
      }
      await Promise.all(answers)
      await spool.close()
    }
  })
})

/** Returns the file descriptor of the spool's open file, so that a test can close it. */
function descriptorOf(path: string): number {
  const found = readdirSync('/proc/self/fd').find((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch (error) {
      // The descriptor used for the directory listing is already closed.
      if ((error as { code?: string }).code !== 'ENOENT') throw error
      return false
    }
  })
  if (found === undefined) throw new Error(`${path} is not open`)
  return Number(found)
}

describe('when the disk fails', () => {
  test('a batch is rejected without a trace, and the spool continues', async () => {
    const { folder, clock, spool } = open()
    const first = await append(spool, 2)
    const path = spool.files()[0] ?? ''
    closeSync(descriptorOf(path))
    expect(await refusal(spool)).toContain('EBADF')
    expect(idsIn(spool)).toEqual(idsOf(first))
    const second = await append(spool, 3)
    expect(idsIn(spool)).toEqual(idsOf([...first, ...second]))
    expect(spool.watermark()).toBe(clock.now())
    await spool.close()
    expect(spool.segments().flatMap(({ batches }) => batches).length).toBe(2)
    expect(idsIn(open(folder, clock).spool)).toEqual(idsOf([...first, ...second]))
  })

  test('batches of the failed hour are rejected, but not the waiting ones of the next hour', async () => {
    const { folder, spool, clock } = open()
    clock.set(TEST_START + HOUR_MS - 10)
    const first = await append(spool)
    closeSync(descriptorOf(spool.files()[0] ?? ''))
    const refused = refusal(spool, 2)
    clock.advance(10)
    const [late, message] = await Promise.all([append(spool, 3), refused])
    expect(message).toContain('EBADF')
    expect(idsIn(spool)).toEqual(idsOf([...first, ...late]))
    await spool.close()
    expect(idsIn(open(folder, clock).spool)).toEqual(idsOf([...first, ...late]))
  })

  test('all waiting batches are rejected, and later ones accepted', async () => {
    const { folder, clock, spool } = open()
    await append(spool)
    closeSync(descriptorOf(spool.files()[0] ?? ''))
    const waiting = await Promise.all(Array.from({ length: 10 }, () => refusal(spool)))
    expect(waiting.every((message) => message?.includes('EBADF'))).toBe(true)
    await append(spool, 4)
    await spool.close()
    expect(idsIn(open(folder, clock).spool).length).toBe(5)
  })

  test('because the folder is missing, batches are rejected until it exists again', async () => {
    const { folder, spool } = open()
    rmSync(folder, { recursive: true })
    expect(await refusal(spool)).toContain('ENOENT')
    mkdirSync(folder)
    const events = await append(spool)
    expect(idsIn(spool)).toEqual(idsOf(events))
    await spool.close()
  })
})

describe('when the disk is full', () => {
  test.skipIf(disk === null)(
    'batches are rejected and leave no data, and are accepted when there is space again',
    async () => {
      const folder = join(disk ?? '', 'spool')
      mkdirSync(folder)
      const { clock, spool } = open(folder)
      const kept = await append(spool, 5)
      const ballast = join(disk ?? '', 'ballast')
      for (let round = 0; round < 3; round++) {
        // Leaves one or two pages free, so that a batch is cut off in the middle.
        writeFileSync(ballast, '')
        expect(() => {
          for (;;) appendFileSync(ballast, Buffer.alloc(1024))
        }).toThrow('ENOSPC')
        truncateSync(ballast, statSync(ballast).size - round * 4096)
        const sizes = () => spool.files().map((path) => statSync(path).size)
        const before = sizes()
        for (let n = 0; n < 3; n++) {
          expect(await refusal(spool, 20, { params: { long: 'x'.repeat(3000) } })).toBe(
            'the collector cannot store events: the disk is full',
          )
        }
        expect(sizes()).toEqual(before)
        expect(idsIn(spool)).toEqual(idsOf(kept))
        unlinkSync(ballast)
        kept.push(...(await append(spool, 7)))
        expect(idsIn(spool)).toEqual(idsOf(kept))
      }
      await spool.close()
      expect(idsIn(open(folder, clock).spool)).toEqual(idsOf(kept))
    },
  )
})
