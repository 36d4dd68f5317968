import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { googleTag } from './google-tag.ts'
import { emptyParams, formMark, isForm, type Params, readLines, readQuery, scalarOrNull } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const COLLECT = /^\/(?:(?:r|j|debug)\/)?collect\/?$/
const UTM = /^\/(?:r\/)?__utm\.gif$/

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://developers.google.com/analytics/devguides/collection/protocol/v1/parameters',
    meanings: {
      v: ['code', 'Version of the protocol'],
      tid: ['identifier', 'Tracking ID of the property'],
      cid: ['identifier', 'Client ID: the browser'],
      uid: ['identifier', 'User ID assigned by the site'],
      t: ['code', 'Type of the hit, such as pageview or event'],
      aip: ['boolean', '1 if the address is anonymized'],
      ds: ['text', 'Source of the data, such as web'],
      qt: ['duration', 'Time between the hit and its sending, in milliseconds'],
      z: ['number', 'Random number that prevents caching'],
      sc: ['code', 'Start or end of a session'],
      ni: ['boolean', '1 if the hit is not an interaction'],
      dl: ['url', 'Address of the page'],
      dh: ['text', 'Host of the page'],
      dp: ['text', 'Path of the page'],
      dt: ['text', 'Title of the page'],
      dr: ['url', 'Address of the previous page'],
      cd: ['text', 'Name of the screen'],
      'cg#': ['text', 'Content group'],
      cn: ['text', 'Name of the campaign'],
      cs: ['text', 'Source of the campaign'],
      cm: ['text', 'Medium of the campaign'],
      ck: ['text', 'Keyword of the campaign'],
      cc: ['text', 'Content of the campaign'],
      ci: ['identifier', 'ID of the campaign'],
      gclid: ['identifier', 'Click ID of Google Ads'],
      dclid: ['identifier', 'Click ID of Google Display Ads'],
      sr: ['text', 'Screen resolution in pixels'],
      vp: ['text', 'Visible area of the browser in pixels'],
      de: ['code', 'Character encoding of the page'],
      sd: ['text', 'Color depth of the screen'],
      ul: ['code', 'Language of the browser'],
      je: ['boolean', '1 if Java is available'],
      ec: ['text', 'Category of the event'],
      ea: ['text', 'Action of the event'],
      el: ['text', 'Label of the event'],
      ev: ['number', 'Value of the event, a whole number'],
      ti: ['identifier', 'ID of the order'],
      ta: ['text', 'Store or affiliation of the order'],
      tr: ['amount', 'Revenue of the order'],
      ts: ['amount', 'Shipping cost of the order'],
      tt: ['amount', 'Tax of the order'],
      tcc: ['text', 'Coupon of the order'],
      in: ['text', 'Name of the item'],
      ip: ['amount', 'Price of one item'],
      iq: ['number', 'Number of items'],
      ic: ['identifier', 'Code of the item (SKU)'],
      iv: ['text', 'Category of the item'],
      cu: ['code', 'Currency (ISO 4217)'],
      pa: ['code', 'Action of enhanced e-commerce, such as purchase'],
      'pr#id': ['identifier', 'ID of the product (SKU)'],
      'pr#nm': ['text', 'Name of the product'],
      'pr#br': ['text', 'Brand of the product'],
      'pr#ca': ['text', 'Category of the product'],
      'pr#va': ['text', 'Variant of the product'],
      'pr#pr': ['amount', 'Price of one product'],
      'pr#qt': ['number', 'Number of products'],
      'pr#cc': ['text', 'Coupon of the product'],
      'pr#ps': ['number', 'Position of the product in its list'],
      cos: ['number', 'Step of the checkout'],
      col: ['text', 'Option of the checkout step'],
      sn: ['text', 'Social network'],
      sa: ['text', 'Social action'],
      st: ['text', 'Target of the social action'],
      utc: ['text', 'Category of the timing'],
      utv: ['text', 'Variable of the timing'],
      utt: ['duration', 'Measured time, in milliseconds'],
      plt: ['duration', 'Load time of the page, in milliseconds'],
      exd: ['text', 'Description of the exception'],
      exf: ['boolean', '1 if the exception was fatal'],
      'cd#': ['text', 'Custom dimension'],
      'cm#': ['number', 'Custom metric'],
    },
  },
]

/**
 * Google stopped processing these hits in July 2024. Hits that are still sent show which data a page sends, and to
 * which property.
 */
export const googleUniversalAnalytics: Decoder = {
  vendor: 'Google Universal Analytics',
  source: 'https://developers.google.com/analytics/devguides/collection/protocol/v1/parameters',
  keys: KEYS,
  hosts: ['google-analytics.com', 'analytics.google.com', 'stats.g.doubleclick.net'],
  routes: [
    // Sends the visitor's identity to Google's advertising products, and repeats a hit.
    { ...sideChannel(COLLECT), when: ({ fields }) => fields.t === 'dc' },
    { path: COLLECT, read: ({ fields }) => (fields.tid || fields.t ? [toEvent(fields)] : []) },
    { path: /^\/batch\/?$/, read: readBatch },
    pixel(UTM, { account: 'utmac', event: classicName }),
    scriptLoad(/^\/(?:(?:analytics|ga|dc|urchin)(?:_debug)?|plugins\/.+)\.js$/),
    googleTag(/^UA-/),
    { ...sideChannel(/^\/ads\/ga-audiences$/), anyHost: true, when: ({ host }) => host.startsWith('www.google.') },
    {
      path: /\/collect\/?$/,
      anyHost: true,
      mark: formMark('tid=UA-\\d'),
      when: isForProperty,
      read: ({ fields }) => [toEvent(fields)],
    },
    // Requests with a renamed path, which evades ad blockers. They are recognised by the four parameters that every hit
    // requires.
    {
      path: /^/,
      anyHost: true,
      mark: formMark('v=1\\b', 'tid=UA-\\d', '[cu]id=.', 't=.'),
      when: isHit,
      read: ({ fields }) => [toEvent(fields)],
    },
  ],
}

function isForProperty(request: VendorRequest): boolean {
  const { search, body } = request
  if (!search.includes('tid=UA-') && !(isForm(body) && body.includes('tid=UA-'))) return false
  return /^UA-\d/.test(request.fields.tid ?? '')
}

function isHit(request: VendorRequest): boolean {
  if (!isForProperty(request)) return false
  const { v, cid, uid, t } = request.fields
  return v === '1' && Boolean(t && (cid || uid))
}

/**
 * Returns an event. Events are named after their action, other hits after their type. `en` belongs to GA4's protocol,
 * and is set if a GA4 hit was sent to the old URL.
 */
function toEvent(sent: Params): DecodedEvent {
  const { t = '', ea, en } = sent
  return {
    event: (t === 'event' ? ea || t : t) || en || '',
    account: scalarOrNull(sent.tid),
    params: sent,
  }
}

/** One hit per line: https://developers.google.com/analytics/devguides/collection/protocol/v1/devguide#batch */
function* readBatch({ query, body }: VendorRequest): Iterable<DecodedEvent> {
  for (const line of readLines(body ?? '')) {
    yield toEvent(Object.assign(emptyParams(), query, readQuery(line.trim())))
  }
}

/**
 * Returns the name of a hit in the previous protocol. That protocol has no type for page views, and writes events as
 * `5(category*action*label)(value)`.
 */
function classicName({ utmt = 'page', utme = '' }: Params): string {
  return utmt === 'event' ? (/5\([^*)]*\*([^*)]*)/.exec(utme)?.[1] ?? utmt) : utmt
}
