import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { normal, poisson, profileAt, randomOf } from '../detector/series.fixture.ts'
import { type FeedHour, hasFeedStopped } from './judge-feed.ts'

/** A shop that posts each order after a delay: at once, every hour, or every night. */
function feedOf(perDay: number, postEveryMs: number, days: number, seed: number) {
  const random = randomOf(seed)
  const orders: Instant[] = []
  for (let hour = 0; hour < days * 24; hour++) {
    const ofDay = hour % 24 === 0 ? Math.exp(0.15 * normal(random)) : 1
    const count = poisson((perDay / 24) * profileAt(hour % 168) * ofDay, random)
    for (let n = 0; n < count; n++) orders.push(hour * HOUR_MS + random() * HOUR_MS)
  }
  orders.sort((a, b) => a - b)
  const postedAt = (at: Instant) => (postEveryMs === 0 ? at : Math.ceil(at / postEveryMs) * postEveryMs)
  /** Returns the orders that are posted before an instant. */
  const at = (now: Instant) => {
    const known = orders.filter((order) => postedAt(order) <= now)
    const hours = Map.groupBy(known, (order) => Math.floor(order / HOUR_MS) * HOUR_MS)
    const rows = [...hours].map(([hour, own]): FeedHour => {
      const middle = own[Math.floor(own.length / 2)] ?? hour
      return { at: hour, orders: own.length, delayMs: postedAt(middle) - middle }
    })
    return { rows, lastAt: known.at(-1) ?? 0 }
  }
  return { at }
}

describe.each([
  [20, 0],
  [500, 0],
  [5000, 0],
  [500, HOUR_MS],
  [500, DAY_MS],
])('a feed of %p orders a day, posted every %p ms', (perDay, every) => {
  const feed = feedOf(perDay, every, 36, perDay + every)

  test('is not stopped while orders arrive in their rhythm', () => {
    for (let now = 8 * DAY_MS; now < 36 * DAY_MS; now += 97 * MINUTE_MS) {
      const { rows, lastAt } = feed.at(now)
      expect(hasFeedStopped(rows, lastAt, now)).toBe(false)
    }
  })

  test('is stopped after a silence that is unusual for it', () => {
    const { rows, lastAt } = feed.at(28 * DAY_MS)
    expect(hasFeedStopped(rows, lastAt, lastAt + 5 * DAY_MS)).toBe(true)
  })
})

test('a new feed is not judged', () => {
  const { rows, lastAt } = feedOf(500, 0, 6, 1).at(6 * DAY_MS)
  expect(hasFeedStopped(rows, lastAt, 20 * DAY_MS)).toBe(false)
})
