import { DAY_MS, HOUR_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import { addConsent } from '../../decoders/consent.ts'
import { browserOf, type SampleBrowser } from './sample-browsers.ts'
import { GTM, type SampleVendor } from './sample-vendors.ts'

/** An event sent to a vendor. */
export interface SiteEvent {
  at: Instant
  of: SampleVendor
  event: string
  host: string
  path: string
  title: string
  sessionId: string
  browser: SampleBrowser
  status: 'ok' | 'failure'
  durMs: number
  version: number
  /** Parameters as returned by the vendor's decoder. */
  params: Record<string, string>
}

/** A purchase, whether or not it was reported to vendors. */
export interface Order {
  host: string
  id: string
  at: Instant
  value: number
  currency: 'EUR'
}

/** One visit. */
export interface Visit {
  id: string
  client: string
  browser: SampleBrowser
  choice: Choice
  at: Instant
  path: string
}

export interface SiteOptions {
  host: string
  /** Number of visits on an average day. */
  visits: number
  seed: number
  /** The vendors that receive events. Absent for all vendors that the site supports. */
  tells?: readonly SampleVendor[]
  /** Time at which the site stops sending events. */
  until?: Instant
  /** Returns the container version at this time. */
  version(at: Instant): number
}

/** Share of visits by hour (UTC) and weekday (0 = Sunday). */
const BY_HOUR = [7, 5, 5, 5, 5, 6, 7, 8, 9, 11, 12, 13, 13, 12, 12, 12, 13, 14, 16, 18, 17, 13, 10, 8]
const BY_WEEKDAY = [1.25, 0.95, 0.9, 0.9, 0.95, 1, 1.2]
const HOUR_SUM = BY_HOUR.reduce((sum, share) => sum + share, 0)

/** Share of visitors who accept in the banner, and share of visitors who refuse. All others don't choose. */
const [AGREE, REFUSE] = [0.72, 0.16]
const CONSENT = {
  granted: withWords({ gcs: 'G111', gcd: '13r3r3r3r5' }),
  denied: withWords({ gcs: 'G100', gcd: '13q3q3q3q5' }),
  open: withWords({ gcs: 'G100', gcd: '13p3p3p3p5' }),
}
export type Choice = keyof typeof CONSENT

/** Adds the consent parameters that the collector derives from requests to Google. */
function withWords(sent: Record<string, string>): Record<string, string> {
  addConsent(sent)
  return sent
}

/**
 * Returns a generator of numbers from 0 to 1. It is reproducible for the same seed:
 * https://en.wikipedia.org/wiki/Linear_congruential_generator
 */
function randomOf(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/**
 * A site whose traffic depends on the hour of the day and the day of the week. It is reproducible for the same seed.
 */
export abstract class Site {
  protected readonly random: () => number
  private events: SiteEvent[] = []
  private sold: Order[] = []
  private visits = 0

  constructor(protected readonly options: SiteOptions) {
    this.random = randomOf(options.seed)
  }

  /** Generates the visits that begin within this hour. */
  hour(from: Instant): void {
    const at = new Date(from)
    const share = (BY_HOUR[at.getUTCHours()] ?? 0) / HOUR_SUM
    const expected = this.options.visits * share * (BY_WEEKDAY[at.getUTCDay()] ?? 1)
    // The number of visits varies less than a random one would. A visit sends a dozen events, so an hour without visits
    // would look like an outage.
    const chance = this.random() + this.random() + this.random() - 1.5
    const count = Math.round(expected + Math.min(Math.sqrt(expected), expected / 4) * chance)
    for (let n = 0; n < count; n++) {
      this.begin(from + Math.floor(((n + 0.4 + this.random() * 0.2) / count) * HOUR_MS))
    }
  }

  /** Removes and returns the events and orders before this time. They are unsorted. */
  take(before: Instant): { events: SiteEvent[]; orders: Order[] } {
    const { events, sold } = this
    this.events = events.filter(({ at }) => at >= before)
    this.sold = sold.filter(({ at }) => at >= before)
    return { events: events.filter(({ at }) => at < before), orders: sold.filter(({ at }) => at < before) }
  }

  /** Simulates the actions of a visitor. */
  protected abstract visit(visit: Visit, choice: Choice): void

  /** Returns the title of a page. */
  protected abstract titleOf(path: string): string

  protected page(visit: Visit, path: string): void {
    visit.at += Math.floor((10 + this.random() * 320) * SECOND_MS)
    visit.path = path
    this.tell(visit, GTM, 'gtm.load')
  }

  /**
   * Sends an event to a vendor. Advertising vendors receive events only from visitors who consented, unless `anyway` is
   * true.
   */
  protected tell(
    visit: Visit,
    of: SampleVendor,
    event: string,
    params: Record<string, string> = {},
    anyway = false,
  ): void {
    const { host, version, until, tells } = this.options
    if (tells && !tells.includes(of)) return
    if (of.advertises && visit.choice !== 'granted' && !anyway) return
    // Each event is sent a little later than the previous one, so Google receives the banner choice before the other
    // vendors receive the page view.
    visit.at += 1 + Math.floor(this.random() * 90)
    if (until !== undefined && visit.at >= until) return
    const title = this.titleOf(visit.path)
    const page = { url: `https://${host}${visit.path}`, title, client: visit.client }
    this.events.push({
      at: visit.at,
      of,
      event,
      host,
      path: visit.path,
      title,
      sessionId: visit.id,
      browser: visit.browser,
      status: this.random() < 0.004 ? 'failure' : 'ok',
      durMs: Math.round(30 + this.random() * 120),
      version: version(visit.at),
      params: { ...of.base(event, page), ...params, ...(of.saysConsent ? CONSENT[visit.choice] : {}) },
    })
  }

  protected sell(order: Omit<Order, 'host'>): void {
    this.sold.push({ host: this.options.host, ...order })
  }

  private begin(at: Instant): void {
    const answer = this.random()
    const choice = answer < AGREE ? 'granted' : answer < AGREE + REFUSE ? 'denied' : 'open'
    const id = `${this.options.host}-${this.visits++}`
    const client = `${Math.floor(this.random() * 1e9)}`
    this.visit({ id, client, browser: browserOf(id), at, path: '/', choice: 'open' }, choice)
  }
}

/** True for `days` days starting at `from`. */
export const lasts = (at: Instant, from: Instant, days: number) => at >= from && at < from + days * DAY_MS
