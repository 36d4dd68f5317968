import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { hashOf } from './batch-hash.ts'
import { deleteExpiredBatches, SeenBatches } from './seen-batches.ts'
import { BatchLog } from './segment-batches.ts'
import type { BatchRecord } from './segment-file.ts'

function recordOf(key: string | null, receivedAt: number, rejected = 0): BatchRecord {
  const errors = rejected > 0 ? [{ list: 'hits' as const, index: 3, error: 'url: é' }] : []
  return { key, orgId: 'org_1', domainId: 'dom_1', receivedAt, answer: { accepted: 2, rejected, errors }, ledger: [] }
}

test('exactly the batches of the last 24 hours are known with their responses, across cleanups and restarts', () => {
  const aStep = fc.oneof(
    { weight: 4, arbitrary: fc.record({ key: fc.integer({ min: 0, max: 30 }), rejected: fc.nat(1) }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 30 }) },
    { weight: 1, arbitrary: fc.constantFrom('clean up' as const, 'restart' as const) },
  )
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 40 }), (steps) => {
      const [db, clock] = [memoryDb(), testClock()]
      let memory = new SeenBatches(db, clock)
      const model = new Map<string, BatchRecord>()
      for (const step of steps) {
        if (typeof step === 'number') clock.advance(step * HOUR_MS)
        else if (step === 'restart') memory = new SeenBatches(db, clock)
        else if (step === 'clean up') {
          while (deleteExpiredBatches(db, clock.now()) !== null);
          // A batch is remembered slightly longer if later batches are in the same generation.
          for (const [key, { receivedAt }] of model) if (receivedAt < clock.now() - 25 * HOUR_MS) model.delete(key)
        } else {
          const record = recordOf(`dom_1 batch ${step.key}`, clock.now(), step.rejected)
          // Like the collector, the test does not record a known batch again.
          if (memory.answerOf(hashOf(record.key ?? '')) === null) {
            memory.record(BatchLog.of([record, recordOf(null, clock.now())]))
            model.set(record.key ?? '', record)
          }
        }
        for (let key = 0; key <= 30; key++) {
          const known = model.get(`dom_1 batch ${key}`)
          const answer = memory.answerOf(hashOf(`dom_1 batch ${key}`))
          // Older batches may still be known until the cleanup.
          if (known && known.receivedAt >= clock.now() - 24 * HOUR_MS) expect(answer).toEqual(known.answer)
          else if (answer !== null) expect(answer).toEqual(known?.answer ?? { accepted: -1, rejected: 0, errors: [] })
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('no batch is mistaken for another, even among many', () => {
  const [db, clock] = [memoryDb(), testClock()]
  const memory = new SeenBatches(db, clock)
  const keys = Array.from({ length: 3000 }, (_, n) => `dom_${n % 7} batch-${n}`)
  memory.record(BatchLog.of(keys.slice(0, 1500).map((key, n) => recordOf(key, clock.now(), n))))
  const known = keys.map((key) => memory.answerOf(hashOf(key))?.rejected ?? -1)
  expect(known).toEqual(keys.map((_, n) => (n < 1500 ? n : -1)))
})

test('expired batches are deleted 10,000 at a time, by generation', () => {
  const [db, clock] = [memoryDb(), testClock()]
  const memory = new SeenBatches(db, clock)
  const record = (from: number, count: number) =>
    memory.record(
      BatchLog.of(Array.from({ length: count }, (_, n) => recordOf(`dom_1 batch-${from + n}`, clock.now()))),
    )
  const left = () => db.prepare('SELECT count(*) FROM batch').pluck().get()
  record(0, 15_000)
  clock.advance(HOUR_MS)
  record(15_000, 10)
  clock.advance(23 * HOUR_MS)
  expect(deleteExpiredBatches(db, clock.now())).toBe(null)
  clock.advance(1)
  expect([1, 2, 3].map(() => deleteExpiredBatches(db, clock.now()))).toEqual([10_000, 5000, null])
  expect([left(), memory.answerOf(hashOf('dom_1 batch-15000'))?.accepted]).toEqual([10, 2])
  clock.advance(HOUR_MS)
  expect([1, 2].map(() => deleteExpiredBatches(db, clock.now()))).toEqual([10, null])
  expect(left()).toBe(0)
})

test('batches of a segment that was loaded late do not shorten the retention of later ones', () => {
  const [db, clock] = [memoryDb(), testClock()]
  const memory = new SeenBatches(db, clock)
  const start = clock.now()
  clock.advance(20 * HOUR_MS)
  memory.record(BatchLog.of([recordOf('dom_1 now', clock.now())]))
  memory.record(BatchLog.of([recordOf('dom_1 late', start)]))
  clock.advance(23 * HOUR_MS)
  while (deleteExpiredBatches(db, clock.now()) !== null);
  expect(memory.answerOf(hashOf('dom_1 now'))?.accepted).toBe(2)
})

test('generations remain few, and a restart recognizes stored batches before and after the filter fills up', () => {
  const [db, clock] = [memoryDb(), testClock()]
  let memory = new SeenBatches(db, clock)
  const keys = Array.from({ length: 50 }, (_, n) => Array.from({ length: 2000 }, (_, k) => `dom_1 batch-${n}-${k}`))
  const generations = () => db.prepare<[], number>('SELECT count(*) FROM batchGeneration').pluck().get()
  for (const some of keys) memory.record(BatchLog.of(some.map((key) => recordOf(key, clock.now()))))
  expect(generations()).toBe(5)
  memory = new SeenBatches(db, clock)
  for (let round = 0; round < 8; round++) {
    expect(keys.map((some) => memory.answerOf(hashOf(some[round] ?? ''))?.accepted)).toEqual(keys.map(() => 2))
    expect(memory.answerOf(hashOf(`dom_1 other-${round}`))).toBe(null)
    memory.record(BatchLog.of([recordOf(`dom_1 other-${round}`, clock.now())]))
    expect(memory.answerOf(hashOf(`dom_1 other-${round}`))?.accepted).toBe(2)
  }
})
