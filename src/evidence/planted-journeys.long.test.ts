import { expect, test } from 'bun:test'
import { NOON, warehouseWith } from '../alerts/alert.fixture.ts'
import { journeyInput, on, stepped, wants } from '../alerts/types/journey/journey.fixture.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { CAUSE_KINDS, overlap, plantCause } from '../segments/plant-cause.fixture.ts'
import type { DimensionSet, SegmentKey } from '../segments/segment.ts'
import { Shop, storedEvents } from '../segments/shop-traffic.fixture.ts'
import { problemFrom } from './evidence.fixture.ts'
import { segmentsOfIssue } from './issue-segments.ts'

/** Fewer broken sessions than this are too few to expect a result, so that none is right as well. */
const FEW_SESSIONS = 10
const SAME = 0.95
const MIDNIGHT = NOON - 36 * HOUR_MS

const journey = stepped([on('shop.start'), wants('shop.done')])

/**
 * Returns three events for each session of the shop: one on another page, the first event of the shop's session, with
 * which the journey begins, and the expected event unless the session is broken.
 */
function sessionEvents(shop: Shop, violates: Uint8Array): StoredEvent[] {
  const stored = storedEvents(shop, violates, MIDNIGHT)
  const events = shop.starts.flatMap((start) => {
    const first = stored[start]
    if (!first) return []
    const at = (ms: number) => ({ receivedAt: first.receivedAt + ms, ts: first.receivedAt + ms })
    const own = { ...first, violations: null, vendor: 'shop' }
    const other = { path: '/landing', account: 'other', segments: { ...first.segments, pageGroup: '/landing' } }
    return [
      { ...own, ...other, ...at(-MINUTE_MS), event: 'view' },
      { ...own, ...at(0), event: 'start' },
      ...(violates[start] ? [] : [{ ...own, ...other, ...at(MINUTE_MS), event: 'done' }]),
    ]
  })
  return events.sort((a, b) => a.receivedAt - b.receivedAt).map((event, at) => ({ ...event, seq: at + 1 }))
}

test('the segment in which sessions break a journey is found in shops of all sizes, and none where none is', async () => {
  const results = { cause: { right: 0, all: 0 }, none: { right: 0, all: 0 } }
  for (let at = 0; at < 50; at++) {
    const shop = new Shop({ events: Math.round(3000 * 10 ** (at / 50)), seed: 500_000 + at })
    const kind = CAUSE_KINDS[at % CAUSE_KINDS.length] ?? 'none'
    const planted = await plantCause(shop, kind, at % 2 === 0 ? 0.05 : 0.3)
    if (!planted) continue
    const { cause, violates } = planted
    const starts = Uint8Array.from({ length: shop.length }, () => 0)
    for (const start of shop.starts) starts[start] = 1
    const begun = (key: SegmentKey) => shop.members(key).map((isMember, n) => isMember & (starts[n] ?? 0))
    using history = await warehouseWith(sessionEvents(shop, violates))
    const problem = problemFrom(journeyInput(journey), { first: 36 * HOUR_MS })
    const { segments, violating, healthy } = await segmentsOfIssue({ history: history as never }, problem)
    const broken = shop.starts.filter((start) => violates[start]).length
    expect([violating, violating + healthy]).toEqual([broken, shop.starts.length])
    const [first] = segments
    const result = results[cause ? 'cause' : 'none']
    result.all++
    const named = first && {
      dimensions: first.dimension.split('+') as unknown as DimensionSet,
      values: first.value.split('+'),
    }
    const isRight =
      named && cause ? overlap(shop, begun(named), begun(cause)) >= SAME : !named && (!cause || broken < FEW_SESSIONS)
    if (isRight) result.right++
  }
  expect(results.cause.all).toBeGreaterThanOrEqual(35)
  expect(results.cause.right / results.cause.all).toBeGreaterThanOrEqual(0.9)
  expect(results.none.right / results.none.all).toBeGreaterThanOrEqual(0.95)
})
