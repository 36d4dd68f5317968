import { expect, test } from 'bun:test'
import { memoryDb, TEST_START, testClock } from '../../test/fakes.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { SeriesScope } from '../signals/series.ts'
import { Suspicion } from '../signals/suspicion.ts'
import type { VerdictRow } from '../signals/verdict-row.ts'
import { followSeries } from './follow-series.ts'

test('a suspicion ends when traffic is back, although nothing falls any more that would ask', async () => {
  const clock = testClock()
  let down = true
  const evaluated: Instant[] = []
  const follower = {
    async verdicts(scopes: readonly SeriesScope[], [window]: readonly { to: Instant }[]) {
      if (window) evaluated.push(window.to)
      const since = clock.now() - HOUR_MS
      // Nothing but how a domain stands is looked at.
      return [
        scopes.map(({ domainId }) => ({ domainId, state: down ? 'silent' : 'normal', down, since })),
      ] as VerdictRow[][]
    },
  }
  const domains = ['a', 'b', 'c'].map((domainId) => ({ orgId: 'o', domainId, sensitivity: 5, timezone: 'UTC' }))
  const warehouse = { query: async () => [] }
  const suspicion = new Suspicion({ warehouse, follower, domains: () => domains, arose() {} })
  const parts = {
    ...{ db: memoryDb(), clock, follower, suspicion },
    enqueue() {},
    spool: { watermark: () => clock.now() + MINUTE_MS },
    gapsOf: () => [],
  }
  await followSeries(parts)
  expect(evaluated).toEqual([])
  expect(await suspicion.at(TEST_START - 5 * MINUTE_MS)).toBe(true)
  await followSeries(parts)
  expect(suspicion.suspected).toBe(true)
  down = false
  clock.advance(5 * MINUTE_MS)
  await followSeries(parts)
  await followSeries(parts)
  expect([suspicion.suspected, evaluated.map((at) => at - TEST_START)]).toEqual([
    false,
    [-5, 0, 5].map((m) => m * MINUTE_MS),
  ])
})
