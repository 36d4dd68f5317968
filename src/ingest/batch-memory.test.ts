import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb, testClock } from '../../test/fakes.ts'
import { HOUR_MS } from '../core/clock.ts'
import { BatchMemory, forgetBatches } from './batch-memory.ts'
import type { BatchRecord } from './segment-file.ts'

// Real files and databases, on machines that do other things too.
setDefaultTimeout(60_000)

const PARTS = 64

function recordOf(key: string | null, receivedAt: number, rejected = 0): BatchRecord {
  const errors = rejected > 0 ? [{ list: 'hits' as const, index: 3, error: 'url: é' }] : []
  return { key, orgId: 'org_1', domainId: 'dom_1', receivedAt, answer: { accepted: 2, rejected, errors }, ledger: [] }
}

test('every batch of the last 24 hours is known with its answer, and no other, over cleaning up and restarts', () => {
  const aStep = fc.oneof(
    { weight: 4, arbitrary: fc.record({ key: fc.integer({ min: 0, max: 30 }), rejected: fc.nat(1) }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 30 }) },
    { weight: 1, arbitrary: fc.constantFrom('clean up' as const, 'restart' as const) },
  )
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 40 }), (steps) => {
      const [db, clock] = [memoryDb(), testClock()]
      let memory = new BatchMemory(db, clock)
      const model = new Map<string, BatchRecord>()
      for (const step of steps) {
        if (typeof step === 'number') clock.advance(step * HOUR_MS)
        else if (step === 'restart') memory = new BatchMemory(db, clock)
        else if (step === 'clean up') {
          for (let part = 0; part < PARTS; part++) forgetBatches(db, clock.now(), part)
          for (const [key, { receivedAt }] of model) if (receivedAt < clock.now() - 24 * HOUR_MS) model.delete(key)
        } else {
          const record = recordOf(`dom_1 batch ${step.key}`, clock.now(), step.rejected)
          // As the collector does: what is known is not recorded again.
          if (memory.answerOf(record.key ?? '') === null) {
            memory.record([record, recordOf(null, clock.now())])
            model.set(record.key ?? '', record)
          }
        }
        for (let key = 0; key <= 30; key++) {
          const known = model.get(`dom_1 batch ${key}`)
          const answer = memory.answerOf(`dom_1 batch ${key}`)
          // What is older may be known still, until it is cleaned up.
          if (known && known.receivedAt >= clock.now() - 24 * HOUR_MS) expect(answer).toEqual(known.answer)
          else if (answer !== null) expect(answer).toEqual(known?.answer ?? { accepted: -1, rejected: 0, errors: [] })
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('no batch is taken for another, of however many', () => {
  const [db, clock] = [memoryDb(), testClock()]
  const memory = new BatchMemory(db, clock)
  const keys = Array.from({ length: 3000 }, (_, n) => `dom_${n % 7} batch-${n}`)
  memory.record(keys.slice(0, 1500).map((key, n) => recordOf(key, clock.now(), n)))
  const known = keys.map((key) => memory.answerOf(key)?.rejected ?? -1)
  expect(known).toEqual(keys.map((_, n) => (n < 1500 ? n : -1)))
})

test('one part of 64 is cleaned up at a time, and all of them clean up all', () => {
  const [db, clock] = [memoryDb(), testClock()]
  new BatchMemory(db, clock).record(Array.from({ length: 640 }, (_, n) => recordOf(`dom_1 batch-${n}`, clock.now())))
  const left = () => db.prepare('SELECT count(*) FROM batch').pluck().get()
  clock.advance(24 * HOUR_MS)
  for (let part = 0; part < PARTS; part++) expect(forgetBatches(db, clock.now(), part)).toBe(0)
  clock.advance(1)
  const counts = Array.from({ length: PARTS }, (_, part) => forgetBatches(db, clock.now(), part + 5 * PARTS))
  expect(Math.max(...counts)).toBeLessThan(64)
  expect(counts.reduce((sum, count) => sum + count)).toBe(640)
  expect(left()).toBe(0)
})
