import { expect, test } from 'bun:test'
import { frameOf } from './collector.fixture.ts'
import { makeStatsKeeper } from './page-stats.ts'

const { page } = frameOf('/')
const timing = (duration: number, transferSize?: number) => ({
  startTime: 0,
  duration,
  ...(transferSize === undefined ? {} : { transferSize, requestStart: 1 }),
})

test('requests are counted by host, and sizes are added only when they are available', () => {
  const stats = makeStatsKeeper(true)
  stats.request(page, 'a.example', timing(10.4, 900))
  stats.request(page, 'a.example', timing(20, 0))
  stats.request(page, 'b.example', timing(5))
  expect(stats.take(page, 7)).toEqual({
    ts: 7,
    loaf: true,
    vendors: [
      { host: 'a.example', requests: 2, durMs: [10, 20], blockMs: 0, bytes: 900 },
      { host: 'b.example', requests: 1, durMs: [5], blockMs: 0 },
    ],
  })
})

test('blocking time is split by the duration of each script', () => {
  const stats = makeStatsKeeper(true)
  const scripts = [
    { sourceURL: 'https://a.example/tag.js', duration: 75 },
    { sourceURL: '', duration: 25 },
  ]
  stats.longFrame(page, { startTime: 0, blockingDuration: 200, scripts })
  stats.longFrame(page, { startTime: 0, blockingDuration: 0, scripts })
  stats.longFrame(page, { startTime: 0, blockingDuration: 50, scripts: [] })
  const blockMs = stats.take(page, 7)?.vendors.map(({ host, blockMs }) => [host, blockMs])
  expect(blockMs).toEqual([
    ['a.example', 150],
    ['unattributed', 50],
  ])
})

test('a page view is reported once, even without requests, and later entries are ignored', () => {
  const stats = makeStatsKeeper(false)
  expect(stats.take(page, 7)).toEqual({ ts: 7, loaf: false, vendors: [] })
  stats.request(page, 'a.example', timing(10))
  expect(stats.take(page, 8)).toBeNull()
  const { page: next } = frameOf('/')
  stats.request(next, 'a.example', timing(10))
  expect(stats.take(next, 9)?.vendors).toHaveLength(1)
})

test('the number of hosts and durations is limited', () => {
  const stats = makeStatsKeeper(true)
  for (let n = 0; n < 80; n++) {
    stats.request(page, `${n}.example`, timing(1))
    stats.request(page, '0.example', timing(1))
  }
  const { vendors = [] } = stats.take(page, 7) ?? {}
  expect([vendors.length, vendors[0]?.requests, vendors[0]?.durMs.length]).toEqual([50, 81, 50])
})
