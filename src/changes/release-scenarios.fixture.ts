import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { Effect, EffectKind } from './change.ts'
import { Chance, type Doing, GA, META, type ShopEvent } from './shop.fixture.ts'

/** A release of a generated shop: its effect, and the effect that must be reported. */
export interface Release {
  name: string
  /** Returns the effect of a release at this time. */
  doing(at: Instant): Doing
  /** Undefined when the release is harmless. */
  harm?: { kinds: readonly EffectKind[]; vendor: string; event: string; key?: string }
}

const is = (event: ShopEvent, vendor: string, name: string) => event.vendor === vendor && event.event === name

const lost = (vendor: string, event: string, share = 1): Doing => ({
  events: (one, chance) => (is(one, vendor, event) && chance.happens(share) ? [] : [one]),
})

const without = (vendor: string, event: string, key: string, share = 1): Doing => ({
  events(one, chance) {
    if (!is(one, vendor, event) || !chance.happens(share)) return [one]
    const { [key]: _, ...params } = one.params
    return [{ ...one, params }]
  },
})

const doubled = (vendor: string, event: string): Doing => ({
  events: (one) => (is(one, vendor, event) ? [one, { ...one, at: one.at + 50 }] : [one]),
})

/**
 * Returns a function that chooses the version for a visit after the change: the new version with the probability
 * `share`, otherwise the old one. With `ramp`, the probability increases over time.
 */
const someNew = (share: number) => (_at: Instant, chance: Chance) => (chance.happens(share) ? 2 : 1)
const ramp = (from: Instant, lengthMs: number) => (at: Instant, chance: Chance) =>
  chance.happens((at - from) / lengthMs) ? 2 : 1

const inNew =
  (doing: Doing): NonNullable<Doing['events']> =>
  (one, chance) =>
    one.version === 2 ? (doing.events?.(one, chance) ?? [one]) : [one]

const EVENT_GONE: readonly EffectKind[] = ['event_lost', 'event_fell']

/** Twenty harmful releases of different kinds. */
export const HARMFUL: readonly Release[] = [
  {
    name: 'purchase events are missing',
    doing: () => lost(GA, 'purchase'),
    harm: { kinds: EVENT_GONE, vendor: GA, event: 'purchase' },
  },
  {
    name: 'purchase events of one vendor are missing',
    doing: () => lost(META, 'Purchase'),
    harm: { kinds: EVENT_GONE, vendor: META, event: 'Purchase' },
  },
  {
    name: 'cart events are missing',
    doing: () => lost(GA, 'add_to_cart'),
    harm: { kinds: EVENT_GONE, vendor: GA, event: 'add_to_cart' },
  },
  {
    name: 'all events of a vendor are missing',
    doing: () => ({ events: (one) => (one.vendor === META ? [] : [one]) }),
    harm: { kinds: EVENT_GONE, vendor: META, event: 'PageView' },
  },
  {
    name: 'product views drop by 60 %',
    doing: () => lost(GA, 'view_item', 0.6),
    harm: { kinds: EVENT_GONE, vendor: GA, event: 'view_item' },
  },
  {
    name: 'page views drop by half',
    doing: () => lost(META, 'PageView', 0.5),
    harm: { kinds: EVENT_GONE, vendor: META, event: 'PageView' },
  },
  {
    name: 'purchase events are sent twice',
    doing: () => doubled(GA, 'purchase'),
    harm: { kinds: ['event_doubled'], vendor: GA, event: 'purchase' },
  },
  {
    name: 'page views are sent twice',
    doing: () => doubled(GA, 'page_view'),
    harm: { kinds: ['event_doubled'], vendor: GA, event: 'page_view' },
  },
  {
    name: 'an id is missing',
    doing: () => without(GA, 'purchase', 'transaction_id'),
    harm: { kinds: ['key_lost'], vendor: GA, event: 'purchase', key: 'transaction_id' },
  },
  {
    name: 'an id is missing from 60 % of events',
    doing: () => without(GA, 'purchase', 'transaction_id', 0.6),
    harm: { kinds: ['key_lost'], vendor: GA, event: 'purchase', key: 'transaction_id' },
  },
  {
    name: 'a common key is missing from 30 % of events',
    doing: () => without(GA, 'page_view', 'cid', 0.3),
    harm: { kinds: ['key_lost'], vendor: GA, event: 'page_view', key: 'cid' },
  },
  {
    name: 'an item id is missing',
    doing: () => without(GA, 'view_item', 'item_id'),
    harm: { kinds: ['key_lost'], vendor: GA, event: 'view_item', key: 'item_id' },
  },
  {
    name: 'a value is blank',
    doing: () => ({
      events: (one) => [is(one, META, 'Purchase') ? { ...one, params: { ...one.params, currency: ' ' } } : one],
    }),
    harm: { kinds: ['key_lost'], vendor: META, event: 'Purchase', key: 'currency' },
  },
  {
    name: 'a number becomes a string',
    doing: () => ({
      events: (one) => [
        is(one, GA, 'purchase') ? { ...one, params: { ...one.params, value: `${one.params.value} €` } } : one,
      ],
    }),
    harm: { kinds: ['key_type'], vendor: GA, event: 'purchase', key: 'value' },
  },
  {
    name: 'requests fail',
    doing: () => ({
      events: (one, chance) => [one.vendor === META && chance.happens(0.2) ? { ...one, failed: true } : one],
    }),
    harm: { kinds: ['failures_rose'], vendor: META, event: 'PageView' },
  },
  {
    name: 'rules are broken',
    doing: () => ({
      events: (one, chance) => [is(one, GA, 'view_item') && chance.happens(0.3) ? { ...one, violated: true } : one],
    }),
    harm: { kinds: ['violations_rose'], vendor: GA, event: 'view_item' },
  },
  {
    name: 'most visitors deny consent',
    doing: () => ({ granted: () => 0.3 }),
    harm: { kinds: ['consent_fell'], vendor: GA, event: '', key: 'consent.ad_storage' },
  },
  {
    name: 'the new version, with 40 % of visits, lacks an id',
    doing: () => ({ version: someNew(0.4), events: inNew(without(GA, 'add_to_cart', 'item_id')) }),
    harm: { kinds: ['key_lost'], vendor: GA, event: 'add_to_cart', key: 'item_id' },
  },
  {
    name: 'the new version, with 30 % of visits, lacks an event',
    doing: () => ({ version: someNew(0.3), events: inNew(lost(META, 'ViewContent')) }),
    harm: { kinds: EVENT_GONE, vendor: META, event: 'ViewContent' },
  },
  {
    name: 'a version that is rolled out gradually lacks a key',
    doing: (at) => ({ version: ramp(at, 20 * MINUTE_MS), events: inNew(without(GA, 'page_view', 'dl')) }),
    harm: { kinds: ['key_lost'], vendor: GA, event: 'page_view', key: 'dl' },
  },
]

/** Ten kinds of harmless release. Five releases are generated from each. */
export const HARMLESS: readonly Release[] = [
  { name: 'nothing', doing: () => ({}) },
  { name: 'a campaign starts', doing: (at) => ({ campaign: (now) => (now > at + 5 * MINUTE_MS ? 2 : 0) }) },
  { name: 'the number of visits falls', doing: () => ({ visits: () => 0.4 }) },
  {
    name: 'a new event and a new key',
    doing: () => ({
      events(one) {
        const more = { ...one, params: { ...one.params, 'ep.new': '1' } }
        return one.event === 'scroll' ? [more, { ...one, event: 'engaged' }] : [more]
      },
    }),
  },
  { name: 'a version that is rolled out gradually', doing: (at) => ({ version: ramp(at, 20 * MINUTE_MS) }) },
  {
    name: 'a new version for some visits, and a campaign',
    doing: (at) => ({ version: someNew(0.4), campaign: (now) => (now > at + 10 * MINUTE_MS ? 1.5 : 0) }),
  },
  { name: 'half of the visits are captured', doing: () => ({ oneIn: () => 2, version: () => 2 }) },
  { name: 'a tenth of the visits is captured', doing: () => ({ oneIn: () => 10 }) },
  { name: 'visitors view different pages', doing: () => ({ productShare: () => 0.6 }) },
  {
    name: 'an optional key is sent more often',
    doing: () => ({ events: (one) => [{ ...one, params: { ...one.params, uid: 'u' } }] }),
  },
]

const START = Date.UTC(2026, 1, 2)

/**
 * Returns the time of the release for a seed. Releases are on any day of the week, harmful ones between 9:00 and 20:00.
 */
export function momentOf(seed: number, isHarmful: boolean): Instant {
  const chance = new Chance(seed * 7 + 1)
  const day = START + chance.below(14) * DAY_MS
  const hour = isHarmful ? chance.between(9, 20) : chance.between(0, 24)
  return Math.floor(day + hour * HOUR_MS)
}

/** Returns whether these effects include the expected effect of a release. */
export function isNamed({ harm }: Release, effects: readonly Effect[]): boolean {
  return effects.some(
    ({ kind, vendor, event, key }) =>
      harm?.kinds.includes(kind) &&
      vendor === harm.vendor &&
      event === harm.event &&
      (harm.key === undefined || key === harm.key),
  )
}
