import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { CONSENT_KEYS, googleTag } from './google-tag.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import { readSemicolons } from './semicolon-params.ts'
import type { VendorRequest } from './vendor-request.ts'

const CONVERSION = /\/(?:pagead|ccm)\/conversion\/(?:AW-)?(?<id>\d+)\/?$/
const REMARKETING = /\/pagead\/viewthroughconversion\/(?:AW-)?(?<id>\d+)\/?$/
const PING = /\/ccm\/collect\/?$/
const COPIES = /^\/(?:pagead\/1p-[a-z-]+|ads\/user-lists)\//

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://developers.google.com/tag-platform/gtagjs/reference/events',
    meanings: {
      value: ['amount', 'Value of the conversion'],
      currency_code: ['code', 'Currency of the value (ISO 4217)'],
      oid: ['identifier', 'Order ID, by which duplicate conversions are recognized'],
      label: ['identifier', 'Label of the conversion action'],
      en: ['text', 'Name of the event'],
      url: ['url', 'Address of the page'],
      ref: ['url', 'Address of the previous page'],
      tiba: ['text', 'Title of the page'],
      random: ['number', 'Random number that prevents caching'],
    },
  },
  {
    url: 'https://support.google.com/google-ads/answer/7305793',
    meanings: {
      'data.ecomm_prodid': ['identifier', 'ID of the product that was viewed or bought'],
      'data.ecomm_pagetype': ['text', 'Type of the page, such as product or cart'],
      'data.ecomm_totalvalue': ['amount', 'Total value of the products'],
    },
  },
  CONSENT_KEYS,
]

/**
 * A conversion causes three requests that contain its label, of which `/pagead/conversion/` is counted. Remarketing
 * causes two, of which `/rmkt/collect/` is a copy. All paths contain the account number.
 */
export const googleAds: Decoder = {
  vendor: 'Google Ads',
  source: 'https://support.google.com/google-ads/answer/7548399',
  keys: KEYS,
  hosts: [
    'googleadservices.com',
    'googleads.g.doubleclick.net',
    'google.com',
    // Used if the visitor has denied consent.
    'pagead2.googlesyndication.com',
    'td.doubleclick.net',
    'ad.doubleclick.net',
  ],
  routes: [
    // Copies, hashed user data for a conversion that was already sent, and the browser's ad auctions.
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
    // Requests to the customer's own host, if Google's tag gateway runs there.
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
 * True for the copy of a conversion, which is sent in addition to the conversion itself, directly or through a
 * redirect. Old remarketing lists have a label but no event.
 */
function isCopy({ fields }: VendorRequest): boolean {
  const { label, en, data, ctc_id, is_vtc } = fields
  return Boolean(ctc_id || is_vtc || (label && (en || data)))
}

/** Reads a hit. `data` contains custom parameters from the page: `event=view_item;ecomm_prodid=7`. */
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

/**
 * Reads a ping, which is sent once for all destinations on the page. If no container loaded the tag, the ping contains
 * the destinations: `tids=AW-1~AW-2`.
 */
function* readPing({ fields }: VendorRequest): Iterable<DecodedEvent> {
  const accounts = (fields.tids || fields.tid || '').split('~')
  for (const account of accounts) {
    yield { event: fields.en ?? '', account: account || null, params: fields }
  }
}
