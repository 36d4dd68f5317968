import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'

/** A deterministic random number generator. */
export class Chance {
  constructor(private state: number) {
    for (let n = 0; n < 4; n++) this.next()
  }

  /**
   * Returns a number from 0 (inclusive) to 1 (exclusive):
   * https://github.com/bryc/code/blob/master/jshash/PRNGs.md#mulberry32
   */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  happens = (share: number) => this.next() < share
  between = (from: number, to: number) => from + this.next() * (to - from)
  below = (end: number) => Math.floor(this.next() * end)

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }

  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()))
    let [count, product] = [0, this.next()]
    for (const limit = Math.exp(-mean); product > limit; product *= this.next()) count++
    return count
  }
}

/** Returns a number from 0 (inclusive) to 1 (exclusive) that is always the same for the same arguments. */
const fixed = (...parts: readonly number[]) =>
  new Chance(parts.reduce((hash, part) => Math.imul(hash ^ (part & 0x7fffffff), 2_654_435_761) + 1, 17)).next()

export interface Visit {
  id: string
  at: Instant
  isCampaign: boolean
  version: number
  weight: number
  consent: 'granted' | 'denied'
  hasAccount: boolean
  isInExperiment: boolean
}

export interface ShopEvent {
  at: Instant
  visit: Visit
  vendor: string
  event: string
  version: number | null
  weight: number
  failed: boolean
  violated: boolean
  params: Record<string, string>
}

/** The effect of a change on a shop. */
export interface Doing {
  /** Returns the events that replace an event after the change. An empty list drops the event. */
  events?(event: ShopEvent, chance: Chance): ShopEvent[]
  /** Returns the factor by which the number of visits is multiplied. */
  visits?(at: Instant): number
  /** Returns the share of visits that come from an additional campaign. */
  campaign?(at: Instant): number
  version?(at: Instant, chance: Chance): number
  /** Sampling: one in this many visits is captured. */
  oneIn?(at: Instant): number
  productShare?(at: Instant): number
  granted?(at: Instant): number
}

const GA = 'Google Analytics 4'
const META = 'Meta Pixel'
const NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [GA]: { page: 'page_view', scroll: 'scroll', product: 'view_item', cart: 'add_to_cart', buy: 'purchase' },
  [META]: { page: 'PageView', product: 'ViewContent', cart: 'AddToCart', buy: 'Purchase' },
  'Google Ads': { page: 'remarketing', buy: 'conversion' },
  'TikTok Pixel': { page: 'Pageview', product: 'ViewContent', buy: 'CompletePayment' },
  'Pinterest Tag': { page: 'pagevisit', buy: 'checkout' },
}
const ALWAYS = ['cid', 'dl', 'sr', 'ul', 'gtm']

/** A shop with daily and weekly patterns, campaigns and quiet hours, all derived from its seed. */
export class Shop {
  readonly vendors: readonly string[]
  private readonly visitsPerHour: number
  private readonly weekend: number
  private readonly conversion: number
  private readonly reach: readonly number[]

  /** `scale`: traffic relative to that of a full-size shop. */
  constructor(
    readonly seed: number,
    scale = 1,
  ) {
    const chance = new Chance(seed)
    const others = ['Google Ads', 'TikTok Pixel', 'Pinterest Tag'].filter(() => chance.happens(0.5))
    this.vendors = [GA, META, ...others]
    this.visitsPerHour = scale * Math.exp(chance.between(Math.log(350), Math.log(1200)))
    this.weekend = chance.between(0.6, 1.4)
    this.conversion = chance.between(0.04, 0.09)
    this.reach = this.vendors.map(() => chance.between(0.75, 1))
  }

  private readonly chances = new Map<number, number>()

  /** Returns a number from 0 (inclusive) to 1 (exclusive) that is always the same for this time interval. */
  private sameFor(stretch: number, what: number): number {
    const key = stretch * 100 + what
    const known = this.chances.get(key) ?? fixed(this.seed, stretch, what)
    this.chances.set(key, known)
    return known
  }

  private visitsAt(at: Instant): number {
    const hour = (at % DAY_MS) / HOUR_MS
    const day = Math.floor(at / DAY_MS)
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay())
    const profile =
      0.12 +
      0.88 * Math.exp(-(((hour - 15 + 24) % 24 > 12 ? 24 - ((hour - 15 + 24) % 24) : (hour - 15 + 24) % 24) ** 2) / 24)
    const noise = 0.85 + 0.3 * fixed(this.seed, day) + 0.2 * (fixed(this.seed, Math.floor(at / HOUR_MS), 1) - 0.5)
    return this.visitsPerHour * profile * noise * (isWeekend ? this.weekend : 1)
  }

  /** Returns the factor by which a campaign multiplies visits; 1 without a campaign. */
  private campaignAt(at: Instant): number {
    for (const day of [Math.floor(at / DAY_MS), Math.floor(at / DAY_MS) - 1]) {
      if (fixed(this.seed, day, 2) > 0.25) continue
      const start = day * DAY_MS + fixed(this.seed, day, 3) * DAY_MS
      const length = (2 + 8 * fixed(this.seed, day, 4)) * HOUR_MS
      if (at >= start && at < start + length) return 1.4 + 2 * fixed(this.seed, day, 5)
    }
    return 1
  }

  /**
   * Returns the events received in an interval, in no particular order. With `isPlain`, the events have no parameters,
   * which is faster.
   */
  events(
    from: Instant,
    to: Instant,
    doing: Doing = {},
    changeAt = Number.POSITIVE_INFINITY,
    isPlain = false,
  ): ShopEvent[] {
    const chance = new Chance((this.seed * 31 + Math.floor(from / MINUTE_MS)) | 0)
    const found: ShopEvent[] = []
    for (let minute = from - 30 * MINUTE_MS; minute < to; minute += MINUTE_MS) {
      const isAfter = minute >= changeAt
      const own = this.campaignAt(minute)
      const extra = own - 1 + (isAfter ? (doing.campaign?.(minute) ?? 0) : 0)
      const more = isAfter ? (doing.visits?.(minute) ?? 1) : 1
      const oneIn = isAfter ? (doing.oneIn?.(minute) ?? 1) : 1
      const rate = (this.visitsAt(minute) * (1 + Math.max(0, extra)) * more) / 60 / oneIn
      for (let n = chance.poisson(rate); n > 0; n--) {
        const at = minute + chance.below(MINUTE_MS)
        const visit = this.visit(at, { doing, chance, isAfter, oneIn, campaignShare: extra / (1 + extra) })
        for (const event of this.pages(visit, { doing, chance, isAfter, isPlain })) {
          if (event.at >= from && event.at < to) found.push(event)
        }
      }
    }
    return found
  }

  private visit(
    at: Instant,
    parts: { doing: Doing; chance: Chance; isAfter: boolean; oneIn: number; campaignShare: number },
  ): Visit {
    const { doing, chance, isAfter, oneIn, campaignShare } = parts
    const usual = 0.65 + 0.06 * (fixed(this.seed, Math.floor(at / HOUR_MS), 6) - 0.5)
    const granted = isAfter ? (doing.granted?.(at) ?? usual) : usual
    return {
      id: `v${at}-${chance.below(1e9)}`,
      at,
      isCampaign: chance.happens(campaignShare),
      version: isAfter ? (doing.version?.(at, chance) ?? 1) : 1,
      weight: oneIn,
      consent: chance.happens(granted) ? 'granted' : 'denied',
      hasAccount: chance.happens(0.3),
      isInExperiment: chance.happens(0.5),
    }
  }

  private pages(
    visit: Visit,
    { doing, chance, isAfter, isPlain }: { doing: Doing; chance: Chance; isAfter: boolean; isPlain: boolean },
  ): ShopEvent[] {
    const found: ShopEvent[] = []
    const vendors = this.vendors.filter((_, at) => chance.happens(this.reach[at] ?? 1))
    let { at } = visit
    const send = (step: string) => {
      for (const vendor of vendors) {
        const event = NAMES[vendor]?.[step]
        if (event === undefined) continue
        const sent = this.eventOf(visit, { at: at + chance.below(SECOND_MS), vendor, event, step }, chance, isPlain)
        // A page loaded before the change continues to use the old version.
        found.push(...(isAfter && doing.events ? doing.events(sent, chance) : [sent]))
      }
    }
    const goesOn = visit.isCampaign ? 0.55 : 0.75
    const products = (isAfter ? doing.productShare?.(visit.at) : undefined) ?? 0.45
    let hasCart = false
    do {
      const isProduct = chance.happens(visit.isCampaign ? 0.25 : products)
      send('page')
      if (chance.happens(0.5)) send('scroll')
      if (isProduct) send('product')
      if (isProduct && chance.happens(0.25)) {
        send('cart')
        hasCart = true
      }
      at += chance.between(10, 80) * SECOND_MS
    } while (chance.happens(goesOn))
    const hour = (visit.at % DAY_MS) / HOUR_MS
    const buys = (this.conversion / 0.3) * (visit.isCampaign ? 0.4 : 1) * (hour > 18 ? 1.15 : 1)
    if (hasCart && chance.happens(Math.min(0.9, buys * 2))) send('buy')
    return found
  }

  private eventOf(
    visit: Visit,
    { at, vendor, event, step }: { at: Instant; vendor: string; event: string; step: string },
    chance: Chance,
    isPlain: boolean,
  ): ShopEvent {
    const known = { at, visit, vendor, event, version: visit.version, weight: visit.weight }
    if (isPlain) return { ...known, failed: false, violated: false, params: {} }
    const failing = 0.01 + 0.015 * this.sameFor(Math.floor(at / HOUR_MS), vendor.length)
    return {
      ...known,
      failed: chance.happens(failing),
      violated: chance.happens(0.01),
      params: this.params(visit, { at, vendor, step }, chance),
    }
  }

  private params(visit: Visit, { at, vendor, step }: { at: Instant; vendor: string; step: string }, chance: Chance) {
    const params: Record<string, string> = {}
    for (const key of ALWAYS) params[key] = 'x'
    if (visit.hasAccount) params.uid = `u${visit.at % 1000}`
    if (visit.isCampaign) Object.assign(params, { gclid: 'abc', utm_source: 'ads' })
    if (chance.happens(0.97)) params.ep_category = 'shop'
    // An experiment runs for several hours.
    if (this.sameFor(Math.floor(at / (5 * HOUR_MS)), 7) < 0.4 && visit.isInExperiment) params.experiment = 'a'
    if (this.sameFor(Math.floor(at / DAY_MS), 8) < 0.3) params.promo = 'sale'
    if (vendor === GA) params['consent.ad_storage'] = visit.consent
    if (step === 'product' || step === 'cart' || step === 'buy') {
      Object.assign(params, {
        item_id: `i${chance.below(99)}`,
        price: String(chance.below(9000) / 100),
        in_stock: 'true',
      })
    }
    if (step === 'buy') {
      Object.assign(params, {
        transaction_id: `t${visit.at}`,
        value: String(chance.below(20_000) / 100),
        currency: 'EUR',
      })
      if (chance.happens(0.2)) params.coupon = 'WELCOME'
    }
    return params
  }
}

export { GA, META }
