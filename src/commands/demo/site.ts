import { DAY_MS, HOUR_MS, type Instant, SECOND_MS } from '../../core/clock.ts'
import { addConsent } from '../../decoders/consent.ts'
import { GTM, type SampleVendor } from './vendors.ts'

/** An event sent to a vendor. */
export interface SiteEvent {
  at: Instant
  of: SampleVendor
  event: string
  host: string
  path: string
  title: string
  sessionId: string
  status: 'ok' | 'failure'
  durMs: number
  version: number
  /** As the decoder of the vendor reads them. */
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
  choice: Choice
  at: Instant
  path: string
}

export interface SiteOptions {
  host: string
  /** Visits of an ordinary day. */
  visits: number
  seed: number
  /** The vendors that it tells; absent: all that it could. */
  tells?: readonly SampleVendor[]
  /** From then on nobody comes any more. */
  until?: Instant
  /** The version that the site has then. */
  version(at: Instant): number
}

/** Shares of visits by the hour (UTC) and weekday (0 = Sunday). */
const BY_HOUR = [7, 5, 5, 5, 5, 6, 7, 8, 9, 11, 12, 13, 13, 12, 12, 12, 13, 14, 16, 18, 17, 13, 10, 8]
const BY_WEEKDAY = [1.25, 0.95, 0.9, 0.9, 0.95, 1, 1.2]
const HOUR_SUM = BY_HOUR.reduce((sum, share) => sum + share, 0)

/** The banner: shares of visitors who agree, and who refuse; the others don't answer. */
const [AGREE, REFUSE] = [0.72, 0.16]
const CONSENT = {
  granted: withWords({ gcs: 'G111', gcd: '13r3r3r3r5' }),
  denied: withWords({ gcs: 'G100', gcd: '13q3q3q3q5' }),
  open: withWords({ gcs: 'G100', gcd: '13p3p3p3p5' }),
}
export type Choice = keyof typeof CONSENT

/** Adds the collector's consent parameters to those of Google's requests. */
function withWords(sent: Record<string, string>): Record<string, string> {
  addConsent(sent)
  return sent
}

/** Numbers from 0 to 1, the same for the same seed: https://en.wikipedia.org/wiki/Linear_congruential_generator */
function randomOf(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A site with visitors who come by the hour of the day and the day of the week; the same for the same seed. */
export abstract class Site {
  protected readonly random: () => number
  private events: SiteEvent[] = []
  private sold: Order[] = []
  private visits = 0

  constructor(protected readonly options: SiteOptions) {
    this.random = randomOf(options.seed)
  }

  /** Makes the visits that begin within an hour. */
  hour(from: Instant): void {
    const at = new Date(from)
    const share = (BY_HOUR[at.getUTCHours()] ?? 0) / HOUR_SUM
    const expected = this.options.visits * share * (BY_WEEKDAY[at.getUTCDay()] ?? 1)
    // Steadier than chance: a visit sends a dozen events, so an hour without one would be a silence.
    const chance = this.random() + this.random() + this.random() - 1.5
    const count = Math.round(expected + Math.min(Math.sqrt(expected), expected / 4) * chance)
    for (let n = 0; n < count; n++) {
      this.begin(from + Math.floor(((n + 0.4 + this.random() * 0.2) / count) * HOUR_MS))
    }
  }

  /** Hands out what happened before then, in no order. */
  take(before: Instant): { events: SiteEvent[]; orders: Order[] } {
    const { events, sold } = this
    this.events = events.filter(({ at }) => at >= before)
    this.sold = sold.filter(({ at }) => at >= before)
    return { events: events.filter(({ at }) => at < before), orders: sold.filter(({ at }) => at < before) }
  }

  /** Simulates the actions of a visitor. */
  protected abstract visit(visit: Visit, choice: Choice): void

  /** The title of a page. */
  protected abstract titleOf(path: string): string

  protected page(visit: Visit, path: string): void {
    visit.at += Math.floor((10 + this.random() * 320) * SECOND_MS)
    visit.path = path
    this.tell(visit, GTM, 'gtm.load')
  }

  /** Sends an event to vendors. Advertising vendors receive only those of visitors who consented, unless `anyway`. */
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
    // In sequence: Google receives the answer to the banner before the others receive the page view.
    visit.at += 1 + Math.floor(this.random() * 90)
    if (until !== undefined && visit.at >= until) return
    const title = this.titleOf(visit.path)
    const page = { url: `https://${host}${visit.path}`, title, client: visit.client }
    this.events.push({
      ...{ at: visit.at, of, event, host, path: visit.path, title, sessionId: visit.id },
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
    this.visit({ id, client: `${Math.floor(this.random() * 1e9)}`, at, path: '/', choice: 'open' }, choice)
  }
}

/** True for `days` days from then. */
export const lasts = (at: Instant, from: Instant, days: number) => at >= from && at < from + days * DAY_MS
