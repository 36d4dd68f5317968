import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://business-api.tiktok.com/portal/docs?id=1771101303285761',
    meanings: {
      event: ['text', 'Name of the event'],
      event_id: ['identifier', 'Event ID, by which a copy from a server is recognized'],
      event_time: ['time', 'Time of the event, in seconds since 1970'],
      event_source: ['code', 'Where the event happened, such as web'],
      event_source_id: ['identifier', 'Code of the pixel'],
      timestamp: ['time', 'Time of the event'],
      'user.email': ['identifier', 'E-mail address, hashed'],
      'user.phone': ['identifier', 'Phone number, hashed'],
      'user.external_id': ['identifier', 'ID of the visitor, assigned by the site, hashed'],
      'user.ttclid': ['identifier', 'Click ID of a TikTok ad'],
      'user.ttp': ['identifier', 'Browser ID, from the cookie _ttp'],
      'user.ip': ['text', 'IP address of the visitor'],
      'user.user_agent': ['text', 'User agent of the browser'],
      'page.url': ['url', 'Address of the page'],
      'page.referrer': ['url', 'Address of the previous page'],
      'context.pixel.code': ['identifier', 'Code of the pixel'],
      'context.page.url': ['url', 'Address of the page'],
      'context.page.referrer': ['url', 'Address of the previous page'],
      'properties.value': ['amount', 'Value of the event'],
      'properties.currency': ['code', 'Currency of the value (ISO 4217)'],
      'properties.content_id': ['identifier', 'ID of the product'],
      'properties.content_type': ['text', 'product or product_group'],
      'properties.content_name': ['text', 'Name of the page or product'],
      'properties.content_category': ['text', 'Category of the page or product'],
      'properties.contents.#.content_id': ['identifier', 'ID of the product'],
      'properties.contents.#.content_name': ['text', 'Name of the product'],
      'properties.contents.#.content_category': ['text', 'Category of the product'],
      'properties.contents.#.brand': ['text', 'Brand of the product'],
      'properties.contents.#.price': ['amount', 'Price of one product'],
      'properties.contents.#.quantity': ['number', 'Number of products'],
      'properties.order_id': ['identifier', 'ID of the order'],
      'properties.query': ['text', 'Words that were searched'],
      'properties.description': ['text', 'Description of the page or product'],
      'properties.status': ['text', 'Status of the order or registration'],
    },
  },
]

export const tiktokPixel: Decoder = {
  vendor: 'TikTok Pixel',
  source: 'https://ads.tiktok.com/help/article/supported-standard-events',
  keys: KEYS,
  hosts: ['analytics.tiktok.com', 'analytics.us.tiktok.com', 'business-api.tiktok.com'],
  routes: [
    { path: /^\/api\/v\d\/(?:pixel(?:\/(?:act|track|batch))?|track)\/?$/, read: readEvents },
    // Reports on the vendor's own code: performance, errors, supported features.
    sideChannel(/^\/api\/v\d\//),
    // https://business-api.tiktok.com/portal/docs?id=1771101303285761
    serverEvents(/^\/open_api\/v[\d.]+\/event\/track\/?$/, {
      list: 'data',
      event: 'event',
      account: ({ event_source_id }) => event_source_id,
    }),
    // The previous version, with one event or `{pixel_code, batch: [event, …]}`.
    jsonEvent(/^\/open_api\/v[\d.]+\/pixel\/track\/?$/, { event: 'event', account: 'pixel_code' }),
    serverEvents(/^\/open_api\/v[\d.]+\/pixel\/batch\/?$/, {
      list: 'batch',
      event: 'event',
      account: ({ pixel_code }) => pixel_code,
    }),
    scriptLoad(/^\/i18n\/pixel\//, 'sdkid'),
  ],
}

/** One event, or `{batch: [event, …]}`. */
function readEvents({ json }: VendorRequest): Iterable<DecodedEvent> {
  return (Array.isArray(json.batch) ? objectsOf(json.batch) : [json]).map(toEvent)
}

/**
 * `event` is set for events that the page reports, `action` for those that the vendor's code reports automatically
 * (`Click`, `Metadata`).
 */
function toEvent(sent: Record<string, unknown>): DecodedEvent {
  const { pixel } = objectOf(sent.context)
  return { event: scalarText(sent.event ?? sent.action), account: scalarOrNull(objectOf(pixel).code), params: sent }
}
