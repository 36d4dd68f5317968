import type { HarRequest } from '../../browser/har-requests.ts'
import { listAll } from '../../configuration/api-client.ts'
import { type Instant, SECOND_MS } from '../../core/clock.ts'
import { runGate } from '../../gate/run-gate.ts'
import { GateServer } from '../verify-server.ts'
import { HOSTS } from './sample-sites.ts'
import { ADS, GA4, META, type SampleVendor } from './sample-vendors.ts'
import type { Call } from './simulated-program.ts'

/** A release of the shop that a pipeline checks. */
export interface CheckedRelease {
  /** Container version. */
  version: number
  /** True when the purchase has no transaction id. */
  isFaulty?: true
  /** True for the release that becomes the baseline of later ones. */
  isBaseline?: true
}

const GATE = 'checkout'
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36'
const ITEM = { 'ep.item_id': 'blue-shirt', 'epn.value': '24.90', 'ep.currency': 'EUR' }
const META_ITEM = { 'cd[content_ids]': 'blue-shirt', 'cd[value]': '24.90', 'cd[currency]': 'EUR' }
const AGREED = { gcs: 'G111', gcd: '13r3r3r3r5' }

/** Events sent to vendors on each page of a purchase. */
const PURCHASE: [path: string, title: string, sent: [of: SampleVendor, event: string, params: object][]][] = [
  ['/', 'Home', []],
  [
    '/product/blue-shirt',
    'Blue shirt',
    [
      [GA4, 'view_item', ITEM],
      [META, 'ViewContent', META_ITEM],
    ],
  ],
  [
    '/cart',
    'Cart',
    [
      [GA4, 'add_to_cart', ITEM],
      [META, 'AddToCart', META_ITEM],
    ],
  ],
  ['/checkout', 'Checkout', [[GA4, 'begin_checkout', { 'epn.value': '24.90', 'ep.currency': 'EUR' }]]],
  [
    '/thank-you',
    'Thank you',
    [
      [GA4, 'purchase', { 'ep.transaction_id': 'TEST-1', 'epn.value': '24.90', 'ep.currency': 'EUR' }],
      [META, 'Purchase', { 'cd[order_id]': 'TEST-1', 'cd[value]': '24.90', 'cd[currency]': 'EUR' }],
      [ADS, 'conversion', { transaction_id: 'TEST-1', value: '24.90', currency_code: 'EUR', label: 'purchase' }],
    ],
  ],
]

/** Checks a release of the shop as `tagwarden verify` does in a pipeline, and stores the result. */
export async function runSampleGate(call: Call, release: CheckedRelease, now: Instant): Promise<void> {
  const { version, isBaseline = false } = release
  const server = new GateServer({
    get: <T>(path: string) => call('GET', path) as Promise<T>,
    post: <T>(path: string, body: unknown) => call('POST', path, body) as Promise<T>,
    list: <T>(path: string, noun: string) =>
      listAll((...args) => call(...args) as Promise<Record<string, unknown>>, path, noun) as Promise<T[]>,
    pageUrl: (path) => path,
  })
  const files = [{ name: 'purchase.har', requests: requestsOf(release, now) }]
  const report = runGate({
    name: GATE,
    ref: `release-${version}`,
    now,
    files,
    rules: await server.rules(),
    domain: await server.domain(null, files),
    privacy: await server.privacy(),
    expectations: null,
    baseline: await server.baseline('approved', GATE, isBaseline),
  })
  await server.record(report, isBaseline)
}

/** Returns the requests of a purchase, as they are read from a recording. */
function requestsOf({ isFaulty }: CheckedRelease, now: Instant): HarRequest[] {
  const requests = PURCHASE.flatMap(([path, title, sent]) => {
    const page = { url: `https://${HOSTS.shop}${path}`, title, client: '7.1' }
    return [[GA4, 'page_view', {}] as const, [META, 'PageView', {}] as const, ...sent].flatMap(([of, event, own]) => {
      const { 'ep.transaction_id': id, ...others } = own as Record<string, string>
      const params = { ...of.base(event, page), ...(of === GA4 && isFaulty ? others : own) }
      const request = of.request?.({ ...params, ...(of.saysConsent && AGREED) })
      return request ? [{ ...request, pageUrl: page.url }] : []
    })
  })
  return requests.map(({ url, method = 'GET', pageUrl }, entry) => {
    const ts = now - (requests.length - entry) * SECOND_MS
    const hit = { url, method, status: 204, durMs: 40, ts, pageUrl, userAgent: CHROME }
    return { entry, hit, tabUrl: null, pageUrl }
  })
}
