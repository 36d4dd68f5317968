import type { DecodedEvent, Decoder } from './decoder.ts'
import { googleTag } from './google-tag.ts'
import { emptyParams, formMark, isForm, type Params, readLines, readQuery, scalarOrNull } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const COLLECT = /^\/(?:(?:r|j|debug)\/)?collect\/?$/
const UTM = /^\/(?:r\/)?__utm\.gif$/

/**
 * Google stopped processing these hits in July 2024. Hits that are still sent show which data a page sends, and to
 * which property.
 */
export const googleUniversalAnalytics: Decoder = {
  vendor: 'Google Universal Analytics',
  source: 'https://developers.google.com/analytics/devguides/collection/protocol/v1/parameters',
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
