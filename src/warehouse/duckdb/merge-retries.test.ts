import { expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { HOUR } from '../warehouse.fixture.ts'
import type { EventFile } from './manifest.ts'
import { MergeRetries } from './merge-retries.ts'
import type { Merge } from './plan-merges.ts'

const merge = (...paths: string[]): Merge => ({
  files: paths.map((path) => ({ path }) as EventFile),
  level: 'compacted',
})

test('a failed merge is retried with delays that double up to six hours', () => {
  const retries = new MergeRetries()
  let now = HOUR
  for (const pauseMs of [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360].map((minutes) => minutes * MINUTE_MS)) {
    expect(retries.isDue(merge('a'), now)).toBe(true)
    retries.failed(merge('a'), now)
    expect(retries.isDue(merge('a'), now + pauseMs - 1)).toBe(false)
    now += pauseMs
  }
  expect(retries.failing).toBe(1)
})

test('other merges are not blocked, and merges that are no longer planned are dropped', () => {
  const retries = new MergeRetries()
  retries.failed(merge('a', 'b'), HOUR)
  expect([retries.isDue(merge('a'), HOUR), retries.isDue(merge('a', 'b'), HOUR)]).toEqual([true, false])
  retries.keep([merge('a')])
  expect([retries.failing, retries.isDue(merge('a', 'b'), HOUR)]).toEqual([0, true])
})

test('setting the clock back does not delay retries', () => {
  const retries = new MergeRetries()
  retries.failed(merge('a'), HOUR)
  expect(retries.isDue(merge('a'), HOUR - 24 * HOUR_MS)).toBe(true)
})
