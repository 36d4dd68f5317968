import { describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { HOUR_MS } from '../core/clock.ts'
import { TestCollector } from './collector.fixture.ts'
import { deleteExpiredBatches } from './seen-batches.ts'

const EVENT = { vendor: 'Shop API', event: 'order' }
const batchOf = (batchId: string, ...ids: string[]) => ({ batchId, events: ids.map((id) => ({ ...EVENT, id })) })
const idsOf = (fixture: TestCollector) => fixture.stored().events.map(({ id }) => id)

describe('a repeated batch', () => {
  /** One valid and one invalid item, so that the response is recognizable. */
  const batch = { batchId: 'batch-0001', events: [{ ...EVENT, id: 'only' }, { vendor: 7 }] }
  const answer = {
    accepted: 1,
    rejected: 1,
    errors: [{ list: 'events', index: 1, error: 'vendor: must be a string' }],
  }
  const noted = { batchId: 'batch-0002', events: [{ ...EVENT, id: 'early', ts: 5000 }] }
  const note = 'ts: is not a plausible time; the time of receipt is used'
  const notedAnswer = { accepted: 1, rejected: 0, errors: [], notes: [{ list: 'events', index: 0, note }] }

  /** Events that may occur between the batch and its repeat. */
  const between: [string, (fixture: TestCollector) => void | Promise<void>][] = [
    ['immediately', () => {}],
    ['after a flush', (fixture) => fixture.flush()],
    ['after a restart', (fixture) => fixture.restart()],
    [
      'after a flush and a restart',
      async (fixture) => {
        await fixture.flush()
        fixture.restart()
      },
    ],
    [
      'after a restart and a flush',
      async (fixture) => {
        fixture.restart()
        await fixture.flush()
      },
    ],
    ['almost 24 hours later', (fixture) => fixture.clock.advance(24 * HOUR_MS - 1)],
    [
      'almost 24 hours later, after a flush and a cleanup',
      async (fixture) => {
        await fixture.flush()
        fixture.clock.advance(24 * HOUR_MS)
        expect(deleteExpiredBatches(fixture.db, fixture.clock.now())).toBe(null)
      },
    ],
  ]

  test.each(between)('gets the same response and is counted once: %s', async (_when, happens) => {
    await using fixture = new TestCollector()
    expect(await fixture.send(batch)).toMatchObject({ status: 202, body: answer })
    expect(await fixture.send(noted)).toMatchObject({ status: 202, body: notedAnswer })
    await happens(fixture)
    // The content of a repeated batch is ignored.
    for (const again of [batch, { ...batch, events: [] }]) {
      expect(await fixture.send(again)).toMatchObject({ status: 202, body: answer })
    }
    expect((await fixture.send(noted)).body).toEqual(notedAnswer)
    expect(idsOf(fixture)).toEqual(['only', 'early'])
  })

  test('gets the same response while the first batch is being written, but only once it is on disk', async () => {
    await using fixture = new TestCollector()
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { body } = await fixture.send(batch)
        // Each response is sent only after the batch is on disk.
        return [body, idsOf(fixture)]
      }),
    )
    for (const each of answers) expect(each).toEqual([answer, ['only']])
  })

  test('is counted once in any order of batches, repeats, flushes and restarts', async () => {
    const aStep = fc.oneof(
      { weight: 8, arbitrary: fc.record({ batch: fc.nat(5), property: fc.constantFrom('shop', 'blog', 'elsewhere') }) },
      { weight: 2, arbitrary: fc.constantFrom('flush', 'restart') },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 25 }), async (steps) => {
        await using fixture = new TestCollector()
        const expected = new Set<string>()
        for (const step of steps) {
          if (step === 'flush') await fixture.flush()
          else if (step === 'restart') fixture.restart()
          else {
            const { token, id } = fixture[step.property as 'shop']
            const eventId = `${id} ${step.batch}`
            expected.add(eventId)
            const { body } = await fixture.send(batchOf(`batch-000${step.batch}`, eventId), { token })
            expect(body).toEqual({ accepted: 1, rejected: 0, errors: [] })
          }
        }
        expect(idsOf(fixture).toSorted()).toEqual([...expected].toSorted())
      }),
      { numRuns: 15 },
    )
  })
})

describe('a batch that is not a repeat', () => {
  test('has the same ID on another domain, in the same or another organization', async () => {
    await using fixture = new TestCollector()
    for (const { token, id } of [fixture.shop, fixture.blog, fixture.elsewhere]) {
      await fixture.send(batchOf('batch-0001', id), { token })
    }
    expect(idsOf(fixture)).toEqual([fixture.shop.id, fixture.blog.id, fixture.elsewhere.id])
  })

  test('has a different ID, even a very similar one', async () => {
    await using fixture = new TestCollector()
    const ids = ['batch-01', 'batch-010', 'Batch-01', 'batch-01 ', 'constructor', '__proto__', 'hasOwnProperty']
    for (let round = 0; round < 2; round++) {
      for (const id of ids) await fixture.send(batchOf(id, id))
      await fixture.flush()
    }
    expect(idsOf(fixture)).toEqual(ids)
  })

  test('has no ID', async () => {
    await using fixture = new TestCollector()
    for (let n = 0; n < 3; n++) await fixture.send({ events: [EVENT] })
    expect(fixture.stored().events.length).toBe(3)
  })

  test('has the same ID more than 24 hours later, after expired batches were deleted', async () => {
    await using fixture = new TestCollector()
    await fixture.send(batchOf('batch-0001', 'first'))
    await fixture.flush()
    fixture.clock.advance(24 * HOUR_MS + 1)
    expect(deleteExpiredBatches(fixture.db, fixture.clock.now())).toBe(1)
    await fixture.send(batchOf('batch-0001', 'second'))
    expect(idsOf(fixture)).toEqual(['first', 'second'])
  })
})

test('a batch that could not be stored is rejected for all concurrent repeats, and accepted later', async () => {
  await using fixture = new TestCollector({ judge: () => ['alr_1'] })
  const batch = batchOf('batch-0001', 'x')
  rmSync(fixture.spoolFolder, { recursive: true })
  const refused = await Promise.all(Array.from({ length: 5 }, () => fixture.send(batch)))
  for (const { status, headers, body } of refused) {
    expect([status, body]).toEqual([503, { error: 'the collector cannot store events: ENOENT' }])
    expect([headers.get('retry-after'), headers.get('access-control-allow-origin')]).toEqual(['5', '*'])
  }
  expect(fixture.violated).toEqual([])
  // Reported once, regardless of the number of rejected batches.
  expect(fixture.troubles.map(({ message }) => message)).toEqual(['the collector cannot store events: ENOENT'])
  mkdirSync(fixture.spoolFolder)
  for (let n = 0; n < 2; n++) expect(await fixture.send(batch)).toMatchObject({ status: 202, body: { accepted: 1 } })
  expect(idsOf(fixture)).toEqual(['x'])
  expect(fixture.violated).toEqual([[['alr_1'], fixture.shop.id]])
})

test('a batch that was rejected as a whole is not remembered', async () => {
  await using fixture = new TestCollector()
  expect((await fixture.send({ ...batchOf('batch-0001', 'x'), env: 'test' })).status).toBe(400)
  expect((await fixture.send(batchOf('batch-0001', 'x'))).body).toMatchObject({ accepted: 1 })
  expect(idsOf(fixture)).toEqual(['x'])
})

test('a repeat gets the same full response after a restart, with all rejected items', async () => {
  await using fixture = new TestCollector()
  const batch = { batchId: 'batch-0001', events: Array(50).fill(null), tags: [{ container: 'C', tagId: 1 }] }
  const { body } = await fixture.send(batch)
  expect([body.accepted, body.rejected, body.errors.length]).toEqual([1, 50, 20])
  await fixture.flush()
  expect((await fixture.send(batch)).body).toEqual(body)
  fixture.restart()
  expect((await fixture.send(batch)).body).toEqual(body)
})
