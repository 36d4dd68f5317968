import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { GA4, GTM, META } from './sample-vendors.ts'
import { Magazine } from './simulated-magazine.ts'
import { Shop } from './simulated-shop.ts'
import type { Order, SiteEvent } from './simulated-site.ts'

/** The sites of the sample organization, by host. */
export const HOSTS = { shop: 'shop.example', outlet: 'outlet.example', magazine: 'magazine.example' } as const

/** Times of the main events in the sample organization's history. */
export interface DemoTimeline {
  /** Time of the first event. Events before `collectedAt` are imported. */
  from: Instant
  /** Time at which the organization starts using Tagwarden. */
  joinedAt: Instant
  /** Time at which a harmless container version goes live. */
  harmlessAt: Instant
  /** Time at which a video player that reports no titles opens an issue, which is then muted. */
  untitledAt: Instant
  /** Time at which a form begins to leak an e-mail address in a parameter, for two days. */
  leakedAt: Instant
  /** Time at which a container version goes live whose cart events lack a currency in Safari. */
  harmfulAt: Instant
  /** Time from which all events are received by the collector. */
  collectedAt: Instant
  /** Time at which the outlet stops sending events. */
  silentAt: Instant
  now: Instant
}

/** Container versions of the shop. Live traffic continues with the last one. */
export const VERSIONS = { first: 39, harmless: 40, harmful: 41 } as const

export function demoTimelineOf(now: Instant): DemoTimeline {
  const ago = (days: number, hours = 0, minutes = 0) => now - days * DAY_MS - hours * HOUR_MS - minutes * MINUTE_MS
  return {
    from: ago(21),
    joinedAt: ago(13),
    harmlessAt: ago(12, 4),
    untitledAt: ago(11, 2),
    leakedAt: ago(9, 3),
    harmfulAt: ago(3, 5),
    collectedAt: ago(0, 22),
    silentAt: ago(0, 20, 10),
    now,
  }
}

/** All events and orders in a time span, in chronological order. */
export interface SiteActivity {
  events: SiteEvent[]
  orders: Order[]
}

/**
 * A shop, its outlet and its magazine with about 4,000 events a day, reproducible for the same plot and seed.
 *
 * Google Analytics 4, Meta Pixel, Google Ads, TikTok Pixel and Plausible receive events for page views, products,
 * carts, purchases and videos; Google Tag Manager reports on its own tags. Visitors are shown a consent banner, and
 * requests to Google contain their choice (`gcs`, `gcd`). Other vendors receive events only with consent, except at the
 * outlet, where Meta also receives events from visitors who refused. One purchase in forty is not reported, and a few
 * are sent to Google twice. Every purchase has a `transaction_id` and a value.
 */
export class SampleSites {
  private readonly all: readonly (Shop | Magazine)[]
  /** Hour up to which visits have been generated. */
  private madeTo: Instant

  constructor(plot: DemoTimeline, seed = 1) {
    const version = (at: Instant) =>
      at >= plot.harmfulAt ? VERSIONS.harmful : at >= plot.harmlessAt ? VERSIONS.harmless : VERSIONS.first
    const { leakedAt, harmfulAt: lostCurrencyAt, silentAt: until } = plot
    this.madeTo = plot.from
    this.all = [
      new Shop({ host: HOSTS.shop, visits: 220, seed, version, orders: 'A', leakedAt, lostCurrencyAt }),
      new Shop({
        host: HOSTS.outlet,
        visits: 120,
        seed: seed + 1,
        version: () => 7,
        orders: 'B',
        until,
        tellsRefusers: true,
        tells: [GTM, GA4, META],
      }),
      new Magazine({ host: HOSTS.magazine, visits: 70, seed: seed + 2, version: () => 3 }),
    ]
  }

  /** Returns the events and orders before this time that have not yet been returned. */
  until(at: Instant): SiteActivity {
    for (; this.madeTo < at; this.madeTo += HOUR_MS) for (const site of this.all) site.hour(this.madeTo)
    const taken = this.all.map((site) => site.take(at))
    return {
      events: taken.flatMap(({ events }) => events).sort((a, b) => a.at - b.at),
      orders: taken.flatMap(({ orders }) => orders).sort((a, b) => a.at - b.at),
    }
  }
}
