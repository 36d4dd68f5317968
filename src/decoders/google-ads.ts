import type { DecodedEvent, Decoder } from './decoder.ts'
import { googleTag } from './google-tag.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'
import { readSemicolons } from './semicolons.ts'

const CONVERSION = /\/(?:pagead|ccm)\/conversion\/(?:AW-)?(?<id>\d+)\/?$/
const REMARKETING = /\/pagead\/viewthroughconversion\/(?:AW-)?(?<id>\d+)\/?$/
const PING = /\/ccm\/collect\/?$/
const COPIES = /^\/(?:pagead\/1p-[a-z-]+|ads\/user-lists)\//

/**
 * One conversion makes three requests with its label; `/pagead/conversion/` is the one that counts. Remarketing makes
 * two, of which `/rmkt/collect/` is the copy. All have the account's number in the path.
 */
export const googleAds: Decoder = {
  vendor: 'Google Ads',
  source: 'https://support.google.com/google-ads/answer/7548399',
  hosts: [
    'googleadservices.com',
    'googleads.g.doubleclick.net',
    'google.com',
    // Where requests go while consent is denied.
    'pagead2.googlesyndication.com',
    'td.doubleclick.net',
    'ad.doubleclick.net',
  ],
  routes: [
    // Copies, hashed user data for a conversion that was sent, and the browser's auctions.
    sideChannel(
      /^\/(?:pagead|ccm)\/(?:form-data|landing)\b|^\/rmkt\/collect\/|^\/ccm\/s\/collect$|^\/td\/(?:fls\/)?rul\//,
    ),
    { ...sideChannel(COPIES), anyHost: true, when: ({ host }) => /^(?:www\.)?google\./.test(host) },
    { ...sideChannel(REMARKETING), when: isCopy },
    { path: REMARKETING, read: (request) => readHit(request, REMARKETING, 'remarketing') },
    { path: CONVERSION, read: (request) => readHit(request, CONVERSION, 'conversion') },
    { path: PING, when: ({ query }) => !/^GT?-/.test(query.tid ?? ''), read: readPing },
    scriptLoad(/^\/pagead\/conversion(?:_async)?\.js$/),
    googleTag(/^AW-/),
    // From the customer's own host, where Google's tag gateway answers.
    {
      path: CONVERSION,
      anyHost: true,
      mark: /[?&]gtm=/,
      when: ({ query }) => 'gtm' in query,
      read: (request) => readHit(request, CONVERSION, 'conversion'),
    },
    {
      path: PING,
      anyHost: true,
      mark: /[?&]tids?=AW-/,
      when: ({ query }) => /^AW-/.test(query.tid ?? query.tids ?? ''),
      read: readPing,
    },
  ],
}

/**
 * A conversion that is sent here as well, directly or by a redirect. Old remarketing lists have a label and no event.
 */
function isCopy({ fields }: VendorRequest): boolean {
  const { label, en, data, ctc_id, is_vtc } = fields
  return Boolean(ctc_id || is_vtc || (label && (en || data)))
}

/** `data` holds what the page gave as custom parameters: `event=view_item;ecomm_prodid=7`. */
function readHit({ path, fields }: VendorRequest, route: RegExp, unnamed: string): DecodedEvent[] {
  const data = readSemicolons(fields.data ?? '')
  const named = Object.fromEntries(Object.entries(data).map(([key, value]) => [`data.${key}`, value]))
  const id = route.exec(path)?.groups?.id
  return [
    {
      event: fields.en || data.event || unnamed,
      account: id ? `AW-${id}` : null,
      params: { ...fields, ...named },
    },
  ]
}

/** One for all destinations on the page, which it names if the tag was not loaded by a container: `tids=AW-1~AW-2`. */
function* readPing({ fields }: VendorRequest): Iterable<DecodedEvent> {
  const accounts = (fields.tids || fields.tid || '').split('~')
  for (const account of accounts) {
    yield { event: fields.en ?? '', account: account || null, params: fields }
  }
}
