import type { Instant } from '../../core/clock.ts'
import { SAFARI } from './sample-browsers.ts'
import { ADS, GA4, META, type SampleVendor, TIKTOK } from './sample-vendors.ts'
import { type Choice, lasts, Site, type SiteOptions, type Visit } from './simulated-site.ts'

export interface ShopOptions extends SiteOptions {
  /** Prefix of the shop's order ids: `A` for `A-10000`. */
  orders: string
  /** Time from which Google Analytics 4 cart events lack a currency in Safari. */
  lostCurrencyAt?: Instant
  /** Start of the two days in which a form leaks the visitor's e-mail address in a parameter. */
  leakedAt?: Instant
  /** True when Meta also receives events from visitors who refused consent. */
  tellsRefusers?: true
}

const PRICES = {
  'blue-shirt': 24.9,
  'red-shirt': 26.5,
  'green-cap': 14.9,
  'black-coat': 129,
  'white-shoes': 79.9,
  'grey-socks': 7.5,
}
const PRODUCTS = Object.keys(PRICES) as (keyof typeof PRICES)[]
const TITLES: Record<string, string> = {
  '/': 'Home',
  '/cart': 'Cart',
  '/checkout': 'Checkout',
  '/thank-you': 'Thank you',
}

/** Share of visits that continue to each step. */
const GOES_ON = { product: 0.72, cart: 0.34, checkout: 0.62, purchase: 0.71, newsletter: 0.04 }
export const LEAK_DAYS = 2
const LEAKED = 'jane.doe@example.com'

/**
 * A clothes shop whose sales peak in the evening and at weekends. One purchase in forty is not reported to any vendor.
 */
export class Shop extends Site {
  private orders = 0

  constructor(protected override readonly options: ShopOptions) {
    super(options)
  }

  protected override titleOf(path: string): string {
    return TITLES[path] ?? path.slice(1)
  }

  protected override visit(visit: Visit, choice: Choice): void {
    this.page(visit, '/')
    visit.choice = choice
    const product = PRODUCTS[Math.floor(this.random() * PRODUCTS.length)] ?? 'blue-shirt'
    const price = PRICES[product]
    const value = price.toFixed(2)
    this.page(visit, '/category/shirts')
    if (this.random() < GOES_ON.newsletter) this.newsletter(visit)
    if (this.random() > GOES_ON.product) return
    this.page(visit, `/product/${product}`)
    this.tell(visit, GA4, 'view_item', { 'ep.item_id': product, 'epn.value': value, 'ep.currency': 'EUR' })
    this.tellMeta(visit, 'ViewContent', { 'cd[content_ids]': product, 'cd[value]': value, 'cd[currency]': 'EUR' })
    if (this.random() > GOES_ON.cart) return
    this.page(visit, '/cart')
    const isBroken =
      visit.browser.segments.browser === SAFARI.segments.browser &&
      visit.at >= (this.options.lostCurrencyAt ?? Number.POSITIVE_INFINITY)
    const currency = isBroken ? {} : { 'ep.currency': 'EUR' }
    this.tell(visit, GA4, 'add_to_cart', { 'ep.item_id': product, 'epn.value': value, ...currency })
    this.tellMeta(visit, 'AddToCart', { 'cd[content_ids]': product, 'cd[value]': value, 'cd[currency]': 'EUR' })
    if (this.random() > GOES_ON.checkout) return
    this.page(visit, '/checkout')
    this.tell(visit, GA4, 'begin_checkout', { 'epn.value': value, 'ep.currency': 'EUR' })
    if (this.random() < GOES_ON.purchase) this.purchase(visit, price)
  }

  protected override page(visit: Visit, path: string): void {
    super.page(visit, path)
    this.tell(visit, GA4, 'page_view')
    this.tellMeta(visit, 'PageView')
  }

  private tellMeta(visit: Visit, event: string, params: Record<string, string> = {}): void {
    this.tell(visit, META, event, params, this.options.tellsRefusers && visit.choice === 'denied')
  }

  private purchase(visit: Visit, value: number): void {
    this.page(visit, '/thank-you')
    const id = `${this.options.orders}-${10_000 + this.orders++}`
    const { until } = this.options
    if (until !== undefined && visit.at >= until) return
    this.sell({ id, at: visit.at, value, currency: 'EUR' })
    if (this.random() < 1 / 40) return
    const tell = (of: SampleVendor, event: string, params: Record<string, string>) =>
      this.tell(visit, of, event, params)
    const sold = { 'ep.transaction_id': id, 'epn.value': value.toFixed(2), 'ep.currency': 'EUR' }
    tell(GA4, 'purchase', sold)
    if (this.random() < 1 / 60) tell(GA4, 'purchase', sold)
    this.tellMeta(visit, 'Purchase', { 'cd[order_id]': id, 'cd[value]': value.toFixed(2), 'cd[currency]': 'EUR' })
    const conversion = { transaction_id: id, value: value.toFixed(2), currency_code: 'EUR', label: 'purchase' }
    tell(ADS, 'conversion', conversion)
    tell(TIKTOK, 'CompletePayment', { 'properties.order_id': id, 'properties.value': value.toFixed(2) })
  }

  private newsletter(visit: Visit): void {
    const { leakedAt } = this.options
    const isLeaking = leakedAt !== undefined && lasts(visit.at, leakedAt, LEAK_DAYS)
    this.tell(visit, GA4, 'sign_up', { 'ep.method': 'newsletter', ...(isLeaking ? { 'ep.form_field': LEAKED } : {}) })
  }
}
