import { afterEach, expect, test } from 'bun:test'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plainEvent } from '../core/event.fixture.ts'
import { hashOf } from './batch-hash.ts'
import { JudgingQueue, type UnjudgedBatch } from './judging-queue.ts'

const folders = new Set<string>()
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
})

const batch = (orgId: string, name: string, key: string | null = `dom_${orgId} ${name}`): UnjudgedBatch => ({
  events: [plainEvent({ orgId, event: name })],
  record: {
    key,
    orgId,
    domainId: `dom_${orgId}`,
    receivedAt: 1,
    answer: { accepted: 1, rejected: 0, errors: [] },
    ledger: [],
  },
})

/** Returns a queue whose judge waits until the test lets it continue. */
function setUp(folder = mkdtempSync(join(tmpdir(), 'late-'))) {
  folders.add(folder)
  const judged: string[] = []
  const admitted: UnjudgedBatch[] = []
  const reported: string[] = []
  const known = new Set<bigint>()
  let gate = Promise.withResolvers<void>()
  let failures = 0
  let taken = Promise.withResolvers<void>()
  const late = new JudgingQueue(
    {
      folder,
      judgeHere: () => null,
      async judge(_orgId, events) {
        judged.push(...events.map(({ event }) => event))
        await gate.promise
        if (failures-- > 0) throw new Error('the process ended')
        return events.map(({ event }) => (event.startsWith('bad') ? ['alr_1'] : []))
      },
      async admit(one) {
        admitted.push(one)
        known.add(hashOf(one.record.key ?? ''))
        taken.resolve()
        taken = Promise.withResolvers()
      },
      isKnown: (hash) => known.has(hash),
      report: (error) => void reported.push(String(error)),
    },
    1,
  )
  const names = () => admitted.flatMap(({ events }) => events.map(({ event }) => event))
  return {
    folder,
    late,
    judged,
    admitted,
    reported,
    known,
    names,
    open: () => gate.resolve(),
    failNext: (times: number) => {
      failures = times
    },
    stop: () => {
      gate = Promise.withResolvers()
    },
    async until(count: number) {
      while (admitted.length < count) await taken.promise
    },
  }
}

test('batches are evaluated in order within an organization, and organizations take turns', async () => {
  const fixture = setUp()
  await Promise.all(['a1', 'bad a2', 'a3', 'a4'].map((name) => fixture.late.append(batch('org_a', name))))
  await Promise.all(['b1', 'b2'].map((name) => fixture.late.append(batch('org_b', name))))
  expect([fixture.late.has('org_a'), fixture.late.has('org_b'), fixture.late.has('org_c')]).toEqual([true, true, false])
  expect(fixture.names()).toEqual([])
  fixture.open()
  await fixture.until(6)
  const names = fixture.names()
  expect(names.filter((name) => name.includes('a'))).toEqual(['a1', 'bad a2', 'a3', 'a4'])
  expect(names.filter((name) => name.includes('b') && !name.includes('a'))).toEqual(['b1', 'b2'])
  expect(names.indexOf('b2')).toBeLessThan(names.indexOf('a4'))
  expect(fixture.admitted.flatMap(({ events }) => events.map(({ violations }) => violations)).filter(Boolean)).toEqual([
    ['alr_1'],
  ])
  await fixture.late.close()
  expect(fixture.late.has('org_a')).toBe(false)
  expect(readdirSync(fixture.folder)).toEqual([])
})

test("a batch that can't be written is rejected with the system's error code, without a path", async () => {
  const fixture = setUp()
  rmSync(fixture.folder, { recursive: true })
  expect(await fixture.late.append(batch('org_a', 'one')).catch((error) => error)).toMatchObject({
    code: 'unavailable',
    message: 'the collector cannot store events: ENOENT',
  })
  expect(fixture.late.has('org_a')).toBe(false)
  await fixture.late.close()
})

test.skipIf(!existsSync('/dev/full'))('a batch is rejected while the disk is full', async () => {
  const fixture = setUp()
  const file = join(fixture.folder, 'org_a.ndjson')
  symlinkSync('/dev/full', file)
  expect(await fixture.late.append(batch('org_a', 'one')).catch((error) => error)).toMatchObject({
    code: 'unavailable',
    message: 'the collector cannot store events: the disk is full',
  })
  await fixture.late.close()
})

test('a repeat of a waiting batch gets the same response until the batch is stored', async () => {
  const fixture = setUp()
  const hash = hashOf('dom_org_a one')
  await fixture.late.append(batch('org_a', 'one'))
  expect(fixture.late.answerOf(hash)).toEqual({ accepted: 1, rejected: 0, errors: [] })
  fixture.open()
  await fixture.until(1)
  await fixture.late.close()
  expect(fixture.late.answerOf(hash)).toBeNull()
  expect(fixture.known.has(hash)).toBe(true)
})

test('batches waiting when the process is killed are evaluated at the next start, except those already stored', async () => {
  const first = setUp()
  for (const name of ['one', 'two', 'three']) await first.late.append(batch('org_a', name))
  await first.late.append(batch('org_a', 'without an id', null))
  // Simulates a kill in the middle of a line that was not acknowledged.
  const [file = ''] = readdirSync(first.folder)
  const copy = mkdtempSync(join(tmpdir(), 'late-'))
  writeFileSync(join(copy, file), readFileSync(join(first.folder, file)))
  appendFileSync(join(copy, file), '0000')
  const second = setUp(copy)
  expect(second.late.size).toBe(4)
  await second.late.close()

  const third = setUp(copy)
  third.open()
  third.late.start()
  await third.until(4)
  expect(third.names()).toEqual(['one', 'two', 'three', 'without an id'])
  expect(new Set(third.admitted.map(({ record }) => record.key)).size).toBe(4)
  expect(third.reported).toEqual([])
  first.open()
  await Promise.all([first.late.close(), third.late.close()])
})

test('batches that were stored before a kill are recognized after a restart', async () => {
  const first = setUp()
  for (const name of ['one', 'two']) await first.late.append(batch('org_a', name))
  const copy = mkdtempSync(join(tmpdir(), 'late-'))
  writeFileSync(join(copy, 'org_a.ndjson'), readFileSync(join(first.folder, 'org_a.ndjson')))
  folders.add(copy)
  const admitted: string[] = []
  const done = Promise.withResolvers<void>()
  const late = new JudgingQueue({
    folder: copy,
    judgeHere: (_orgId, events) => events.map(() => []),
    judge: () => Promise.reject(new Error('no evaluation takes long')),
    async admit({ events }) {
      admitted.push(...events.map(({ event }) => event))
      done.resolve()
    },
    isKnown: (hash) => hash === hashOf('dom_org_a one'),
    report() {},
  })
  late.start()
  await done.promise
  await late.close()
  expect(admitted).toEqual(['two'])
  first.open()
  await first.late.close()
})

test('a damaged line affects only its own batch, and is reported', async () => {
  const first = setUp()
  for (const name of ['one', 'two', 'three']) await first.late.append(batch('org_a', name))
  const bytes = readFileSync(join(first.folder, 'org_a.ndjson'))
  const at = bytes.indexOf('two')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  const copy = mkdtempSync(join(tmpdir(), 'late-'))
  writeFileSync(join(copy, 'org_a.ndjson'), bytes)
  const second = setUp(copy)
  expect(second.reported).toEqual(['Error: 1 damaged batches lost'])
  second.open()
  second.late.start()
  await second.until(2)
  expect(second.names()).toEqual(['one', 'three'])
  first.open()
  await Promise.all([first.late.close(), second.late.close()])
})

test('a failed evaluation is retried, and no batch is lost or stored twice', async () => {
  const fixture = setUp()
  fixture.failNext(1)
  for (const name of ['one', 'two']) await fixture.late.append(batch('org_a', name))
  fixture.open()
  await fixture.until(2)
  expect(fixture.names()).toEqual(['one', 'two'])
  expect(fixture.reported).toEqual(['Error: the process ended'])
  await fixture.late.close()
})

test('a batch that was damaged while waiting is reported', async () => {
  const fixture = setUp()
  for (const name of ['one', 'two', 'three']) await fixture.late.append(batch('org_a', name))
  const path = join(fixture.folder, 'org_a.ndjson')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"two"', '"owt"'))
  fixture.open()
  await fixture.until(2)
  expect(fixture.names()).toEqual(['one', 'three'])
  expect(fixture.reported).toEqual(['Error: 1 damaged batches lost'])
  await fixture.late.close()
})

test('an organization whose queue is full is rate limited, but other organizations are not', async () => {
  const fixture = setUp()
  const large = batch('org_a', 'large')
  const events = large.events.map((event) => ({ ...event, params: { text: 'x'.repeat(65 * 1024 * 1024) } }))
  await fixture.late.append({ ...large, events })
  expect(await fixture.late.append(batch('org_a', 'more')).catch(({ code }) => code)).toBe('rateLimited')
  await fixture.late.append(batch('org_b', 'one'))
  fixture.open()
  await fixture.until(2)
  await fixture.late.close()
})

test('a batch whose evaluation fails repeatedly is stored without it, with an entry in the ledger', async () => {
  const fixture = setUp()
  fixture.failNext(5)
  for (const name of ['one', 'bad two']) await fixture.late.append(batch('org_a', name))
  fixture.open()
  await fixture.until(2)
  expect(fixture.admitted.map(({ events, record }) => [events[0]?.violations, record.ledger])).toEqual([
    [null, [{ reason: 'not evaluated: the rules take too long', count: 1, sample: '' }]],
    [['alr_1'], []],
  ])
  expect(fixture.reported.length).toBe(5)
  await fixture.late.close()
})

test("an organization whose batches can't be evaluated does not delay others", async () => {
  const fixture = setUp()
  await fixture.late.append(batch('org_a', 'hangs'))
  await fixture.late.append(batch('org_b', 'other'))
  while (fixture.judged.length < 2) await Bun.sleep(1)
  expect(fixture.judged.sort()).toEqual(['hangs', 'other'])
  fixture.open()
  await fixture.late.close()
})
