import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { addConsent } from '../../decoders/consent.ts'

/** An event as `tagwarden import events` takes it. */
export interface PastEvent {
  receivedAt: Instant
  vendor: string
  event: string
  account: string
  host: string
  path: string
  title: string
  sessionId: string
  status: 'ok' | 'failure'
  execMs: number
  durMs: number
  version: number
  params: Record<string, string>
}

/** Something that was sold in the shop, whether vendors were told of it or not. */
export interface PastOrder {
  id: string
  at: Instant
  value: number
  currency: 'EUR'
}

export interface PastOfShop {
  /** In the order of `receivedAt`, all before `now`. */
  events: PastEvent[]
  orders: PastOrder[]
  release: { at: Instant; version: number; lost: { vendor: string; event: string; key: string } }
}

export const HISTORY_DAYS = 30
/** Container versions: before the release, and since. The live traffic goes on with the latter. */
export const [OLD_VERSION, NEW_VERSION] = [40, 41]

/** Visits of an ordinary day, and shares of them by the hour (UTC) and weekday (0 = Sunday). */
const VISITS = 500
const BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 7, 9, 11, 12, 13, 13, 12, 12, 12, 13, 14, 16, 18, 17, 13, 8, 4]
const BY_WEEKDAY = [1.25, 0.95, 0.9, 0.9, 0.95, 1, 1.2]
const HOUR_SUM = BY_HOUR.reduce((sum, share) => sum + share, 0)

/** The banner: shares of visitors who agree, and who refuse; the others don't answer. */
const [AGREE, REFUSE] = [0.72, 0.16]
const CONSENT = {
  granted: withWords({ gcs: 'G111', gcd: '13r3r3r3r5' }),
  denied: withWords({ gcs: 'G100', gcd: '13q3q3q3q5' }),
  open: withWords({ gcs: 'G100', gcd: '13p3p3p3p5' }),
}
type Choice = keyof typeof CONSENT

/** What Google's requests say, with the words that the collector adds. */
function withWords(sent: Record<string, string>): Record<string, string> {
  addConsent(sent)
  return sent
}

const PRODUCTS = ['blue-shirt', 'red-shirt', 'green-cap', 'black-coat', 'white-shoes', 'grey-socks'] as const
const PRICES: Record<(typeof PRODUCTS)[number], number> = {
  ...{ 'blue-shirt': 24.9, 'red-shirt': 26.5, 'green-cap': 14.9 },
  ...{ 'black-coat': 129, 'white-shoes': 79.9, 'grey-socks': 7.5 },
}
const TITLES: Record<string, string> = {
  '/': 'Home',
  '/cart': 'Cart',
  '/checkout': 'Checkout',
  '/thank-you': 'Thank you',
}

/** How far a visit comes: shares that go on from step to step. */
const GOES_ON = { product: 0.72, cart: 0.34, checkout: 0.62, purchase: 0.71, newsletter: 0.015 }
/** The address that a form put into a parameter, for so many days. */
const LEAKED = 'jane.doe@example.com'
const [LEAK_FROM, LEAK_DAYS] = [9, 2]
/** How long ago the release was. */
const RELEASE_AGO_MS = 3 * DAY_MS + 5 * HOUR_MS

/**
 * A month of the sample shop, about 180,000 events: the same for the same `now` and `seed`.
 *
 * Its story: the shop sells clothes, most of them in the evening and at weekends. Google Analytics 4, Meta Pixel, Google Ads
 * and TikTok Pixel are told of page views, products, carts and purchases; Google Tag Manager reports its tags. Visitors
 * answer a banner: Google's requests say how (`gcs`, `gcd`), the others are sent only for those who agree. Nine days ago a
 * newsletter form wrote an e-mail address into a parameter, for two days. Three days ago container version 41 went live, and
 * since then `add_to_cart` of Google Analytics 4 has no `ep.currency`. One purchase in forty is told to nobody, a few to
 * Google twice; every purchase has a `transaction_id` and a value, in events and in `orders`.
 */
export function pastOfShop(now: Instant, seed = 1): PastOfShop {
  const shop = new Shop(now - RELEASE_AGO_MS, now, randomOf(seed))
  const first = now - HISTORY_DAYS * DAY_MS
  for (let hour = first; hour < now - HOUR_MS; hour += HOUR_MS) shop.hour(hour)
  shop.events.sort((a, b) => a.receivedAt - b.receivedAt)
  return {
    events: shop.events.filter(({ receivedAt }) => receivedAt < now - MINUTE_MS),
    orders: shop.orders.filter(({ at }) => at < now - MINUTE_MS),
    release: {
      at: now - RELEASE_AGO_MS,
      version: NEW_VERSION,
      lost: { vendor: GA4.vendor, event: 'add_to_cart', key: 'ep.currency' },
    },
  }
}

const GA4 = { vendor: 'Google Analytics 4', account: 'G-ABCDE12345' }
const META = { vendor: 'Meta Pixel', account: '1234567890123456' }
const ADS = { vendor: 'Google Ads', account: 'AW-123456789' }
const TIKTOK = { vendor: 'TikTok Pixel', account: 'C0ABCDEFGHIJKLMNOPQR' }
const GTM = { vendor: 'Google Tag Manager', account: 'GTM-ABC123' }
type Vendor = typeof GA4

/** Numbers from 0 to 1, the same for the same seed: https://en.wikipedia.org/wiki/Linear_congruential_generator */
function randomOf(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** One visit to the shop. */
interface Visit {
  id: string
  client: string
  choice: Choice
  at: Instant
  path: string
}

class Shop {
  readonly events: PastEvent[] = []
  readonly orders: PastOrder[] = []
  private visits = 0

  constructor(
    private readonly releasedAt: Instant,
    private readonly now: Instant,
    private readonly random: () => number,
  ) {}

  hour(from: Instant): void {
    const at = new Date(from)
    const share = (BY_HOUR[at.getUTCHours()] ?? 0) / HOUR_SUM
    const expected = VISITS * share * (BY_WEEKDAY[at.getUTCDay()] ?? 1)
    // As many as come by chance.
    const count = Math.max(
      0,
      Math.round(expected + Math.sqrt(expected) * (this.random() + this.random() + this.random() - 1.5) * 2),
    )
    for (let n = 0; n < count; n++) this.visit(from + Math.floor(this.random() * HOUR_MS))
  }

  private visit(at: Instant): void {
    const answer = this.random()
    const choice = answer < AGREE ? 'granted' : answer < AGREE + REFUSE ? 'denied' : 'open'
    const visit: Visit = {
      ...{ id: `visit-${this.visits++}`, client: `${Math.floor(this.random() * 1e9)}`, at, path: '/' },
      choice: 'open',
    }
    this.page(visit, '/')
    visit.choice = choice
    const product = PRODUCTS[Math.floor(this.random() * PRODUCTS.length)] ?? 'blue-shirt'
    this.page(visit, '/category/shirts')
    if (this.random() < GOES_ON.newsletter) this.newsletter(visit)
    if (this.random() > GOES_ON.product) return
    const item = { id: product, value: PRICES[product].toFixed(2) }
    this.page(visit, `/product/${product}`)
    this.tell(visit, GA4, 'view_item', { 'ep.item_id': item.id, 'epn.value': item.value, 'ep.currency': 'EUR' })
    this.tell(visit, META, 'ViewContent', {
      'cd[content_ids]': item.id,
      'cd[value]': item.value,
      'cd[currency]': 'EUR',
    })
    if (this.random() > GOES_ON.cart) return
    this.page(visit, '/cart')
    const isReleased = visit.at >= this.releasedAt
    const currency = isReleased ? {} : { 'ep.currency': 'EUR' }
    this.tell(visit, GA4, 'add_to_cart', { 'ep.item_id': item.id, 'epn.value': item.value, ...currency })
    this.tell(visit, META, 'AddToCart', { 'cd[content_ids]': item.id, 'cd[value]': item.value, 'cd[currency]': 'EUR' })
    if (this.random() > GOES_ON.checkout) return
    this.page(visit, '/checkout')
    this.tell(visit, GA4, 'begin_checkout', { 'epn.value': item.value, 'ep.currency': 'EUR' })
    if (this.random() < GOES_ON.purchase) this.purchase(visit, PRICES[product])
  }

  private purchase(visit: Visit, value: number): void {
    this.page(visit, '/thank-you')
    const id = `A-${10_000 + this.orders.length}`
    this.orders.push({ id, at: visit.at, value, currency: 'EUR' })
    if (this.random() < 1 / 40) return
    const sold = { 'ep.transaction_id': id, 'epn.value': value.toFixed(2), 'ep.currency': 'EUR' }
    this.tell(visit, GA4, 'purchase', sold)
    if (this.random() < 1 / 60) this.tell(visit, GA4, 'purchase', sold)
    this.tell(visit, META, 'Purchase', { 'cd[order_id]': id, 'cd[value]': value.toFixed(2), 'cd[currency]': 'EUR' })
    this.tell(visit, ADS, 'conversion', {
      transaction_id: id,
      value: value.toFixed(2),
      currency_code: 'EUR',
      label: 'purchase',
    })
    this.tell(visit, TIKTOK, 'CompletePayment', { 'properties.order_id': id, 'properties.value': value.toFixed(2) })
  }

  private newsletter(visit: Visit): void {
    const daysAgo = (this.now - visit.at) / DAY_MS
    const isLeaking = daysAgo <= LEAK_FROM && daysAgo > LEAK_FROM - LEAK_DAYS
    this.tell(visit, GA4, 'sign_up', { 'ep.method': 'newsletter', ...(isLeaking ? { 'ep.form_field': LEAKED } : {}) })
  }

  private page(visit: Visit, path: string): void {
    visit.at += Math.floor((5 + this.random() * 55) * SECOND_MS)
    visit.path = path
    this.tell(visit, GTM, 'gtm.load', { tagId: '7', name: 'GA4 configuration' })
    this.tell(visit, GA4, 'page_view', {})
    this.tell(visit, META, 'PageView', {})
    this.tell(visit, TIKTOK, 'Pageview', {})
  }

  /** Advertising vendors are told only of visitors who agreed. */
  private tell(visit: Visit, { vendor, account }: Vendor, event: string, params: Record<string, string>): void {
    const isGoogle = vendor === GA4.vendor || vendor === ADS.vendor
    if (!isGoogle && vendor !== GTM.vendor && visit.choice !== 'granted') return
    const own = isGoogle ? { ...this.commonOf(visit), ...params, ...CONSENT[visit.choice] } : { ...params }
    // One after the other: an answer to the banner is told to Google before others are told of the page.
    visit.at += 1 + Math.floor(this.random() * 90)
    this.events.push({
      ...{ receivedAt: visit.at, vendor, event, account, params: own },
      ...{
        host: 'shop.example',
        path: visit.path,
        title: TITLES[visit.path] ?? visit.path.slice(1),
        sessionId: visit.id,
      },
      status: this.random() < 0.004 ? 'failure' : 'ok',
      execMs: Math.round(4 + this.random() * 30),
      durMs: Math.round(30 + this.random() * 120),
      version: visit.at >= this.releasedAt ? NEW_VERSION : OLD_VERSION,
    })
  }

  private commonOf({ client, path }: Visit): Record<string, string> {
    return {
      v: '2',
      cid: client,
      ul: 'en-us',
      sr: '1280x720',
      dl: `https://shop.example${path}`,
      dt: TITLES[path] ?? path.slice(1),
    }
  }
}
