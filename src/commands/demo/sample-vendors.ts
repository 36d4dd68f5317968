import type { HitItem } from '../../ingest/batch.ts'

/** Page data that determines the parameters sent to a vendor with every event. */
interface OnPage {
  url: string
  title: string
  /** Visitor id from Google's cookie. */
  client: string
}

/** A vendor used by the sample sites. */
export interface SampleVendor {
  vendor: string
  account: string
  /** Kind of the vendor's events. `tag`: reports of a tag manager about its own tags. */
  kind: 'event' | 'tag'
  /** True when requests to the vendor contain the visitor's choice in the banner. */
  saysConsent?: true
  /** True when the vendor receives events only from visitors who consented. */
  advertises?: true
  /**
   * Host and size in bytes of the vendor's code, and the time in milliseconds for which the code blocks a page of
   * average speed.
   */
  code: { host: string; bytes: number; blockMs: number }
  /** Returns the parameters that all of the vendor's events have, named as by its decoder. */
  base(event: string, page: OnPage): Record<string, string>
  /** Returns the request to the vendor with these parameters. Absent when the container reports the event. */
  request?(params: Record<string, string>): Pick<HitItem, 'url' | 'method' | 'body'>
}

/** Prefix of parameters that the decoders add to those in the request. */
const ADDED = 'consent.'
const fieldsOf = (params: Record<string, string>) =>
  new URLSearchParams(Object.entries(params).filter(([key]) => !key.startsWith(ADDED)))

const GA4_ACCOUNT = 'G-ABCDE12345'
export const GA4: SampleVendor = {
  vendor: 'Google Analytics 4',
  account: GA4_ACCOUNT,
  kind: 'event',
  saysConsent: true,
  code: { host: 'www.google-analytics.com', bytes: 21_300, blockMs: 18 },
  base: (event, { url, title, client }) => ({
    v: '2',
    tid: GA4_ACCOUNT,
    en: event,
    cid: client,
    ul: 'en-us',
    dl: url,
    dt: title,
  }),
  request: (params) => ({ url: `https://www.google-analytics.com/g/collect?${fieldsOf(params)}` }),
}

const META_ACCOUNT = '1234567890123456'
export const META: SampleVendor = {
  vendor: 'Meta Pixel',
  account: META_ACCOUNT,
  kind: 'event',
  advertises: true,
  code: { host: 'connect.facebook.net', bytes: 73_800, blockMs: 64 },
  base: (event) => ({ id: META_ACCOUNT, ev: event }),
  request: (params) => ({ url: `https://www.facebook.com/tr/?${fieldsOf(params)}` }),
}

export const ADS: SampleVendor = {
  vendor: 'Google Ads',
  account: 'AW-123456789',
  kind: 'event',
  saysConsent: true,
  code: { host: 'www.googleadservices.com', bytes: 19_100, blockMs: 9 },
  base: () => ({}),
  request: (params) => ({ url: `https://www.googleadservices.com/pagead/conversion/123456789/?${fieldsOf(params)}` }),
}

const TIKTOK_ACCOUNT = 'C0ABCDEFGHIJKLMNOPQR'
export const TIKTOK: SampleVendor = {
  vendor: 'TikTok Pixel',
  account: TIKTOK_ACCOUNT,
  kind: 'event',
  advertises: true,
  code: { host: 'analytics.tiktok.com', bytes: 118_200, blockMs: 97 },
  base: (event) => ({ event, 'context.pixel.code': TIKTOK_ACCOUNT }),
  request: (params) => ({
    url: 'https://analytics.tiktok.com/api/v2/pixel',
    method: 'POST',
    body: JSON.stringify(nested(params)),
  }),
}

export const PLAUSIBLE: SampleVendor = {
  vendor: 'Plausible',
  account: 'magazine.example',
  kind: 'event',
  code: { host: 'plausible.io', bytes: 1_400, blockMs: 1 },
  base: (event, { url }) => ({ n: event, u: url, d: 'magazine.example' }),
  request: (params) => ({
    url: 'https://plausible.io/api/event',
    method: 'POST',
    body: JSON.stringify(params),
  }),
}

export const GTM: SampleVendor = {
  vendor: 'Google Tag Manager',
  account: 'GTM-ABC123',
  kind: 'tag',
  code: { host: 'www.googletagmanager.com', bytes: 96_400, blockMs: 52 },
  base: () => ({ tagId: '7', name: 'GA4 configuration' }),
}

/** Converts `a.b` to `{a: {b}}`. */
function nested(params: Record<string, string>): Record<string, unknown> {
  const whole: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(params)) {
    const names = key.split('.')
    const last = names.pop() ?? key
    let at = whole
    for (const name of names) {
      at[name] ??= {}
      at = at[name] as Record<string, unknown>
    }
    at[last] = value
  }
  return whole
}
