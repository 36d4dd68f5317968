import { expect, test } from 'bun:test'
import { MINUTE_MS } from '../core/clock.ts'
import { cachePerOwner, TtlCache } from './ttl-cache.ts'

test('a result is valid from the time it was computed until 10 minutes later', () => {
  const kept = new TtlCache<number>(2)
  kept.set('a', 1, 1000)
  expect([999, 1000, 1000 + 10 * MINUTE_MS - 1, 1000 + 10 * MINUTE_MS].map((now) => kept.get('a', now))).toEqual([
    undefined,
    1,
    1,
    undefined,
  ])
  expect(kept.get('b', 1000)).toBeUndefined()
})

test('the oldest results are evicted above the maximum size', () => {
  const kept = new TtlCache<number>(2)
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    kept.set(key, value, 0)
  expect(['a', 'b', 'c'].map((key) => kept.get(key, 0))).toEqual([3, undefined, 4])
})

test('each owner has a separate cache', () => {
  const keptOf = cachePerOwner<number>(1)
  const [one, other] = [{}, {}]
  keptOf(one).set('a', 1, 0)
  expect([keptOf(one).get('a', 0), keptOf(other).get('a', 0)]).toEqual([1, undefined])
})
