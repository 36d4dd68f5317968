import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { bytesFirst, sumOf } from './dictionary.fixture.ts'
import { type HistoryFixture, openHistory } from './history.fixture.ts'
import { performanceStats } from './performance-stats.ts'
import { maskFor } from './response-mask.ts'

type Input = Parameters<typeof performanceStats.answer>[1]

let history: HistoryFixture
beforeAll(async () => {
  history = await openHistory()
})
afterAll(() => history?.[Symbol.asyncDispose]())

const ask = (input: Input) => performanceStats.answer(history.sources(), input, history.caller)
const whole = (weight: number) => Math.round(Number(weight.toFixed(6)))

/** Returns the expected statistics, computed with simple loops. */
function plainStats({ hours = 24, domainId }: Input) {
  const mask = maskFor(history.sources())
  const events = history.events.filter(
    (one) =>
      one.orgId === history.orgId &&
      one.kind !== 'library' &&
      one.receivedAt > history.now - hours * HOUR_MS &&
      [undefined, one.domainId].includes(domainId),
  )
  const vendors = [...Map.groupBy(events, ({ vendor }) => mask(vendor, '$vendor'))].map(([vendor, own]) => {
    const sum = (test: (event: StoredEvent) => boolean) => sumOf(own.filter(test))
    const [timed, known] = [
      own.filter(({ execMs }) => execMs !== null && execMs >= 0 && execMs <= DAY_MS),
      sum(({ status }) => status !== null),
    ]
    const failed = sum(({ status }) => ['failure', 'exception', 'timeout'].includes(status ?? ''))
    const execSum = timed.reduce((total, { execMs, weight }) => total + (execMs ?? 0) * weight, 0)
    return {
      vendor,
      events: whole(sumOf(own)),
      failures: whole(failed),
      avgExecMs: timed.length > 0 ? execSum / sumOf(timed) : 0,
      maxExecMs: Math.max(0, ...timed.map(({ execMs }) => execMs ?? 0)),
      failurePct: known > 0 ? Math.round((failed / known) * 1000) / 10 : 0,
    }
  })
  return vendors.sort((a, b) => b.events - a.events || bytesFirst(a.vendor, b.vendor))
}

test.each<Input>([{}, { hours: 1 }, { hours: 744 }])(
  '%j: the result for each vendor matches a plain loop',
  async (input) => {
    for (const scope of [{}, { domainId: history.domains[1]?.id ?? '' }]) {
      const { windowHours, vendors } = await ask({ ...input, ...scope })
      const plain = plainStats({ ...input, ...scope })
      expect(windowHours).toBe(input.hours ?? 24)
      expect(plain.length).toBeGreaterThan(0)
      expect(plain.some(({ failures }) => failures > 0)).toBe(true)
      expect(vendors.map(({ avgExecMs, ...rest }) => rest)).toEqual(plain.map(({ avgExecMs, ...rest }) => rest))
      for (const [at, { avgExecMs }] of vendors.entries()) {
        const expected = plain[at]?.avgExecMs ?? 0
        expect(Math.abs(avgExecMs - expected)).toBeLessThanOrEqual(0.001 + Math.abs(expected) * 1e-9)
      }
    }
  },
)

test('a domain of another organization is not found, and without events the result is empty', async () => {
  for (const domainId of [history.domains[2]?.id ?? '', 'dom_none'])
    expect(ask({ domainId })).rejects.toMatchObject({ code: 'notFound', message: 'query.domainId: no such domain' })
  const empty = { windowHours: 24, vendors: [] }
  const later = { principal: history.caller.principal, now: history.now + 90 * DAY_MS }
  expect(await performanceStats.answer(history.sources(), {}, later)).toEqual(empty)
  expect(await performanceStats.answer({ ...history.sources(), domains: () => [] }, {}, history.caller)).toEqual(empty)
})
