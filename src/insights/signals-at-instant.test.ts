import { expect, test } from 'bun:test'
import { memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { SeriesMonitor } from '../signals/series-monitor.ts'
import { signalsAt } from './signals-at-instant.ts'

test('past signals are computed once every 10 minutes for each organization, set of domains and time', async () => {
  const db = memoryDb()
  const clock = testClock()
  const start = clock.now()
  let asked = 0
  let isDown = false
  const signals: SeriesMonitor['signals'] = async (of) => {
    asked++
    if (isDown) throw new AppError('unavailable', 'the warehouse is away')
    return of.map(() => [])
  }
  const seriesMonitor = { signals, forHistory: { signals } } as SeriesMonitor
  const domains = [{ id: 'dom_a', name: 'A' }]
  const past = start - 2 * HOUR_MS
  const ask = async (at = past, orgId = 'org_a', of = domains) => {
    const before = asked
    const parts = { db, seriesMonitor, watermark: () => clock.now(), now: clock.now() }
    await signalsAt(parts, orgId, of, at).catch((error: AppError) => expect(error.code).toBe('unavailable'))
    return asked - before
  }
  expect([await ask(), await ask(), await ask(past + 1), await ask(past, 'org_b')]).toEqual([1, 0, 1, 1])
  expect([await ask(past, 'org_a', [{ id: 'dom_b', name: 'B' }]), await ask()]).toEqual([1, 0])
  // Recent signals are not cached, because they can still change.
  expect([await ask(start), await ask(start)]).toEqual([1, 1])
  clock.advance(10 * MINUTE_MS)
  expect([await ask(), await ask()]).toEqual([1, 0])
  clock.set(start)
  expect(await ask()).toBe(1)
  isDown = true
  clock.advance(10 * MINUTE_MS)
  expect([await ask(), await ask()]).toEqual([1, 1])
})

test('past signals are computed with a separate series monitor', async () => {
  const db = memoryDb()
  const now = testClock().now()
  const asked: string[] = []
  const signals =
    (which: string): SeriesMonitor['signals'] =>
    async (of) => {
      asked.push(which)
      return of.map(() => [])
    }
  const seriesMonitor = { signals: signals('present'), forHistory: { signals: signals('past') } } as SeriesMonitor
  const ask = (at: number) =>
    signalsAt({ db, seriesMonitor, watermark: () => now, now }, 'org_a', [{ id: 'd', name: 'D' }], at)
  await ask(now)
  await ask(now - 2 * HOUR_MS)
  expect(asked).toEqual(['present', 'past'])
})
