import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { setPageViewRates } from '../domains/collect-hostname-store.ts'
import { domainDirectory } from '../domains/domain-directory.ts'
import { createDomain, findDomain } from '../domains/store.ts'
import { type DecodedBatch, decodeBatch } from './decode-batch.ts'
import { linesOf } from './segment-file.ts'

/** Returns a domain that stores page views at these rates. */
function setUp(rates: { devRate: number; prodRate: number }) {
  const [db, clock] = [memoryDb(), testClock()]
  const { orgId } = cast(db, clock)
  const id = createDomain(db, clock, orgId, { name: 'Shop' })
  setPageViewRates(db, { orgId, id }, rates)
  const domain = domainDirectory({ db, clock }).byToken(findDomain(db, { orgId, id }, clock.now()).token)
  if (!domain) throw new Error('the token is known')
  let seq = 0
  return (batch: object): DecodedBatch =>
    decodeBatch(batch, {
      domain,
      receivedAt: clock.now(),
      nextSeq: () => ++seq,
      isDenied: () => false,
      judge: () => [],
    })
}

const view = { vendor: 'A', event: 'Page_View' }
const purchase = { vendor: 'A', event: 'purchase' }

describe('page views', () => {
  test('are sampled by session, and the weight of each stored one represents those dropped', () => {
    fc.assert(
      fc.property(fc.constantFrom(0.5, 0.25, 0.1), fc.integer(), (prodRate, salt) => {
        const read = setUp({ devRate: 1, prodRate })
        let weight = 0
        const sessions = 600
        for (let n = 0; n < sessions; n++) {
          const { events, answer } = read({ sessionId: `s-${salt}-${n}`, events: [view, purchase, view] })
          expect(answer).toEqual({ accepted: 3, rejected: 0, errors: [] })
          const kept = events.filter(({ event }) => event === view.event)
          expect(events.filter(({ event }) => event === 'purchase').map((event) => event.weight)).toEqual([1])
          expect([0, 2]).toContain(kept.length)
          for (const event of kept) expect(event.weight).toBeCloseTo(1 / prodRate)
          weight += kept.reduce((sum, event) => sum + event.weight, 0)
        }
        // Six standard deviations of a binomial proportion.
        const deviation = Math.sqrt((prodRate * (1 - prodRate)) / sessions) / prodRate
        expect(Math.abs(weight / (2 * sessions) - 1)).toBeLessThan(6 * deviation)
      }),
      { numRuns: 15 },
    )
  })

  test('of a session are either all stored or all dropped, in any batch', () => {
    const read = setUp({ devRate: 1, prodRate: 0.5 })
    for (let n = 0; n < 50; n++) {
      const kept = () => read({ sessionId: `s-${n}`, events: [view] }).events.length
      expect([kept(), kept()]).toEqual(Array(2).fill(kept()))
    }
  })

  test('from the development environment are sampled at their own rate', () => {
    const read = setUp({ devRate: 1, prodRate: 0.01 })
    const batches = Array.from({ length: 100 }, (_, n) => ({ env: 'dev', sessionId: `s-${n}`, events: [view] }))
    expect(batches.flatMap((batch) => read(batch).events).map(({ weight }) => weight)).toEqual(Array(100).fill(1))
  })

  test('multiply the weight of a session that was already sampled', () => {
    const read = setUp({ devRate: 1, prodRate: 0.5 })
    const batches = Array.from({ length: 100 }, (_, n) => ({ sampleRate: 0.1, sessionId: `s-${n}`, events: [view] }))
    const weights = batches.flatMap((batch) => read(batch).events).map(({ weight }) => weight)
    expect(new Set(weights)).toEqual(new Set([20]))
  })

  test('keep their own weight in the spool, next to other events', () => {
    const read = setUp({ devRate: 1, prodRate: 0.5 })
    const batch = Array.from({ length: 20 }, (_, n) => read({ sessionId: `s-${n}`, events: [purchase, view] })).find(
      ({ events }) => events.length === 2,
    )
    const record = { key: null, orgId: 'o', domainId: 'd', receivedAt: 0, answer: batch?.answer, ledger: [] }
    if (!batch?.answer) throw new Error('one of twenty sessions is kept')
    const [line = ''] = linesOf(batch.events, { ...record, answer: batch.answer }).lines
    expect(JSON.parse(line).weight).toEqual([null, 2])
  })
})
