import { expect, test } from 'bun:test'
import { TEST_START } from '../../../test/fixtures.ts'
import { DAY_MS, HOUR_MS } from '../../core/clock.ts'
import { demoTimelineOf, HOSTS, SampleSites, VERSIONS } from './sample-sites.ts'
import { ADS, GA4, GTM, META, TIKTOK } from './sample-vendors.ts'
import { splitViolating } from './simulate-history.ts'
import type { SiteEvent } from './simulated-site.ts'

const NOW = TEST_START
const plot = demoTimelineOf(NOW)
const { events, orders } = new SampleSites(plot).until(NOW)
const ofShop = events.filter(({ host }) => host === HOSTS.shop)
const ofOutlet = events.filter(({ host }) => host === HOSTS.outlet)
const bySession = (of: readonly SiteEvent[]) => [...Map.groupBy(of, ({ sessionId }) => sessionId).values()]
const hasRefused = (own: readonly SiteEvent[]) => own.some(({ params }) => params.gcd?.includes('q'))

test('the history is reproducible for the same end time, whatever the steps, and differs for another seed', () => {
  const parts = new SampleSites(plot)
  const first = parts.until(NOW - DAY_MS - 1)
  const second = parts.until(NOW)
  expect(Bun.hash(JSON.stringify([...first.events, ...second.events]))).toBe(Bun.hash(JSON.stringify(events)))
  expect([...first.orders, ...second.orders]).toEqual(orders)
  expect(new SampleSites(plot, 2).until(NOW).orders).not.toEqual(orders)
})

test('the history covers three weeks in chronological order, with nights and weekends, and ends before the current time', () => {
  expect(events.length).toBeGreaterThan(70_000)
  expect(events.length).toBeLessThan(110_000)
  const times = events.map(({ at }) => at)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(plot.from)
  expect(times.at(-1)).toBeLessThan(NOW)
  const share = (is: (at: Date) => boolean) => ofShop.filter(({ at }) => is(new Date(at))).length / ofShop.length
  expect(share((at) => at.getUTCHours() < 6)).toBeLessThan(0.15)
  expect(share((at) => at.getUTCDay() === 0 || at.getUTCDay() === 6)).toBeGreaterThan(2.2 / 7)
})

test('the history continues in the following hours', () => {
  const sites = new SampleSites(plot)
  sites.until(NOW)
  const next = sites.until(NOW + HOUR_MS).events
  expect(next.length).toBeGreaterThan(50)
  expect(next.every(({ at }) => at >= NOW && at < NOW + HOUR_MS)).toBe(true)
})

test('the shop has two releases, and the second one removes a key from one event of one vendor in one browser', () => {
  const carts = ofShop.filter(({ of, event }) => of === GA4 && event === 'add_to_cart')
  for (const version of Object.values(VERSIONS)) {
    const own = carts.filter((one) => one.version === version)
    expect(own.length).toBeGreaterThan(100)
    for (const { params, browser } of own)
      expect('ep.currency' in params).toBe(version !== VERSIONS.harmful || browser.segments.browser !== 'Safari')
  }
  const versionAt = (at: number) =>
    at >= plot.harmfulAt ? VERSIONS.harmful : at >= plot.harmlessAt ? VERSIONS.harmless : VERSIONS.first
  for (const { version, at } of ofShop) expect(version).toBe(versionAt(at))
})

test('an e-mail address appears in one parameter for two days', () => {
  const leaking = events.filter(({ params }) => JSON.stringify(params).includes('@'))
  expect(
    new Set(leaking.flatMap(({ params }) => Object.keys(params).filter((key) => params[key]?.includes('@')))),
  ).toEqual(new Set(['ep.form_field']))
  expect(leaking.length).toBeGreaterThan(3)
  for (const { at } of leaking) expect(at >= plot.leakedAt && at < plot.leakedAt + 2 * DAY_MS).toBe(true)
})

test('advertising vendors receive events only with consent, except for Meta at the outlet', () => {
  const advertised = (of: readonly SiteEvent[]) => new Set(of.filter((one) => one.of.advertises).map((one) => one.of))
  const refusers = bySession(ofShop).filter(hasRefused)
  expect(refusers.length).toBeGreaterThan(100)
  expect(advertised(refusers.flat())).toEqual(new Set())
  expect(advertised(bySession(ofOutlet).filter(hasRefused).flat())).toEqual(new Set([META]))
})

test('the outlet stops sending events and has no orders afterwards', () => {
  const last = Math.max(...ofOutlet.map(({ at }) => at))
  expect(last).toBeLessThan(plot.silentAt)
  expect(last).toBeGreaterThan(plot.silentAt - 2 * HOUR_MS)
  expect(orders.filter(({ id, at }) => id.startsWith('B') && at >= plot.silentAt)).toEqual([])
})

test('most orders are reported to vendors, some are not reported, and some are reported twice', () => {
  const told = events.filter(({ of, event }) => of === GA4 && event === 'purchase')
  const ids = told.map(({ params }) => params['ep.transaction_id'])
  const missing = orders.filter(({ id }) => !ids.includes(id)).length
  expect(missing).toBeGreaterThan(5)
  expect(missing).toBeLessThan(orders.length / 10)
  expect(ids.length).toBeGreaterThan(new Set(ids).size)
  const values = new Map(orders.map(({ id, value }) => [id, value]))
  for (const { params } of told)
    expect(Number(params['epn.value'])).toBe(values.get(params['ep.transaction_id'] ?? '') ?? Number.NaN)
})

test('the shop sends events to all of its vendors', () => {
  expect(new Set(ofShop.map(({ of }) => of))).toEqual(new Set([GTM, GA4, META, TIKTOK, ADS]))
})

/** Number of missing events from which an hourly series counts as silent, at the sensitivity of automatic signals. */
const SILENT = 22.6

/**
 * Returns the largest number of events expected during any gap in the last day, based on the average of the hour in
 * which the gap begins.
 */
function worstGap(own: readonly SiteEvent[], from: number, until: number): number {
  const hourOf = (at: number) => new Date(at).getUTCHours()
  const perHour = Array.from({ length: 24 }, (_, hour) => own.filter(({ at }) => hourOf(at) === hour).length)
  const days = (until - from) / DAY_MS
  const times = own.map(({ at }) => at).filter((at) => at >= until - DAY_MS)
  const gaps = times.map((at, index) => {
    const lastedMs = index === 0 ? 0 : at - (times[index - 1] ?? at)
    return ((perHour[hourOf(at - lastedMs)] ?? 0) / days) * (lastedMs / HOUR_MS)
  })
  return Math.max(...gaps)
}

test('each scenario contains its events at any start time, and only the outlet stops sending events', () => {
  for (let hours = 0; hours < 7 * 24; hours += 19) {
    const own = demoTimelineOf(NOW + hours * HOUR_MS + 17 * 60_000)
    const { events } = new SampleSites(own).until(own.now)
    const { noticed } = splitViolating(
      events.filter(({ at }) => at < own.collectedAt),
      own,
    )
    const names = new Set(noticed.map(({ event }) => event))
    expect(names).toEqual(new Set(['video_start', 'sign_up', 'add_to_cart']))
    for (const host of Object.values(HOSTS)) {
      const until = host === HOSTS.outlet ? own.silentAt : own.now
      const there = events.filter((event) => event.host === host)
      expect(worstGap(there, own.from, until)).toBeLessThan(SILENT)
    }
  }
})
