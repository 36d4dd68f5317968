import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { hashOf } from './batch-hash.ts'
import { BatchLog } from './segment-batches.ts'
import type { BatchRecord } from './segment-file.ts'

const refusal: BatchRecord['answer']['errors'][number] = { list: 'hits', index: 3, error: 'url: é' }
const note: BatchRecord['ledger'][number] = { reason: 'events: vendor', count: 2, sample: '' }

const aBatch = fc
  .tuple(fc.option(fc.string({ maxLength: 3 })), fc.nat(1000), fc.nat(1000), fc.boolean(), fc.boolean())
  .map(([key, receivedAt, accepted, isRefused, isNoted]): BatchRecord => {
    const answer = isRefused ? { accepted, rejected: 1, errors: [refusal] } : { accepted, rejected: 0, errors: [] }
    return { key, orgId: 'org_1', domainId: 'dom_1', receivedAt, answer, ledger: isNoted ? [note] : [] }
  })

/** Returns the first response for each key. */
function answersIn(batches: readonly BatchRecord[]) {
  const answers = new Map<string, BatchRecord['answer']>()
  for (const { key, answer } of batches) if (key !== null && !answers.has(key)) answers.set(key, answer)
  return answers
}

test('a log returns the same responses as a map of its batches, and null for other batches', () => {
  fc.assert(
    fc.property(fc.array(aBatch, { maxLength: 100 }), fc.array(fc.string({ maxLength: 3 })), (batches, others) => {
      const [log, answers] = [BatchLog.of(batches), answersIn(batches)]
      for (const key of [...answers.keys(), ...others]) {
        expect(log.answerOf(hashOf(key))).toEqual(answers.get(key) ?? null)
      }
      expect([...log.knownBatches()]).toEqual(
        [...answers].map(([key, { accepted, ...refused }]) => ({
          hash: hashOf(key),
          accepted,
          refused: refused.rejected > 0 ? refused : null,
        })),
      )
      expect(log.knownCount).toBe(answers.size)
      expect(log.notable).toEqual(batches.filter(({ ledger }) => ledger.length > 0))
      expect(log.size).toBe(batches.length)
      const times = batches.map(({ receivedAt }) => receivedAt)
      expect([log.firstReceivedAt, log.lastReceivedAt]).toEqual([Math.min(...times), Math.max(0, ...times)])
    }),
  )
})
