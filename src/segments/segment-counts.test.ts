import { expect, test } from 'bun:test'
import { NOON, warehouseWith } from '../alerts/alert.fixture.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { compareViolations } from './compare-violations.ts'
import { plantCause } from './plant-cause.fixture.ts'
import type { SegmentTally } from './segment.ts'
import { countScope } from './segment-counts.ts'
import type { SegmentScope } from './segment-query.ts'
import { Shop, storedEvents } from './shop-traffic.fixture.ts'

const MIDNIGHT = NOON - 12 * HOUR_MS
const scope: SegmentScope = {
  orgId: 'org_a',
  window: { from: MIDNIGHT, to: MIDNIGHT + DAY_MS },
  includes: () => ({ sql: 'true' }),
  violates: (binder) => ({ sql: binder.dialect.has('violations', binder.bind('alr_1')) }),
}

/** Returns the sums by segment, rounded, because the order of additions differs. */
const byName = (tallies: readonly SegmentTally[]) =>
  Object.fromEntries(
    tallies.map(({ dimensions, values, ...sums }) => [
      `${dimensions.join('+')}=${values.join('+')}`,
      Object.fromEntries(Object.entries(sums).map(([field, sum]) => [field, Math.round(sum * 1e4) / 1e4])),
    ]),
  )

test('the sums of the event history equal those of a simple reference implementation', async () => {
  const shop = new Shop({ events: 3000, seed: 1, rate: 0.25, robot: 100 })
  const { violates } = (await plantCause(shop, 'segment', 0.05)) ?? { violates: new Uint8Array() }
  using history = await warehouseWith(storedEvents(shop, violates, MIDNIGHT))
  const { counts, size } = await countScope(scope, history)
  const reference = shop.counts(violates)
  expect(size.events).toBe(3100)
  for (const without of [[], [{ dimensions: ['browser'], values: ['Safari'] } as const]]) {
    const [ours, theirs] = [await counts.single(without), await reference.single(without)]
    expect(byName(ours.tallies)).toEqual(byName(theirs.tallies))
    const paired = [
      { dimension: 'browser', values: ['Chrome', 'Firefox'] },
      { dimension: 'os', values: ['iOS', 'Windows', 'macOS'] },
      { dimension: 'pageGroup', values: ['/', '/cart'] },
    ] as const
    expect(byName(await counts.pairs(paired, without))).toEqual(byName(await reference.pairs(paired, without)))
  }
})

test('the segment of a planted cause is found in the event history', async () => {
  const shop = new Shop({ events: 6000, seed: 26 })
  const members = shop.members({ dimensions: ['browserVersion', 'os'], values: ['Safari 18', 'iOS'] })
  const violates = Uint8Array.from(members, (isMember, n) => ((isMember ? n % 4 === 0 : n % 500 === 0) ? 1 : 0))
  using history = await warehouseWith(storedEvents(shop, violates, MIDNIGHT))
  const answer = await compareViolations(scope, { history, privacy: PLAIN_PRIVACY, timezone: 'UTC' })
  const [violating, inside] = [violates, members].map((list) => list.reduce((sum, one) => sum + one, 0))
  expect(answer.violating + answer.healthy).toBe(6000)
  expect(answer.violating).toBe(violating ?? 0)
  expect(answer.segments).toMatchObject([{ dimension: 'browserVersion+os', value: 'Safari 18+iOS', total: inside }])
  expect(answer.summary).toMatch(
    /^9\d % of violations come from Safari 18 on iOS; elsewhere 0\.\d+ % of events violate\.$/,
  )
})
