import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { unfolded } from './json.ts'
import { type Params, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'

const ADSCT = /^\/(?:1\/)?i\/adsctp?\/?$/

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://business.x.com/en/help/campaign-measurement-and-analytics/conversion-tracking-for-websites',
    meanings: {
      txn_id: ['identifier', 'ID of the pixel, or of the event'],
      event_id: ['identifier', 'Random ID of the event'],
      tw_sale_amount: ['amount', 'Value of the sale'],
      tw_order_quantity: ['number', 'Number of items in the order'],
      tw_document_href: ['url', 'Address of the page'],
      'event.value': ['amount', 'Value of the event'],
      'event.currency': ['code', 'Currency of the value (ISO 4217)'],
      'event.num_items': ['number', 'Number of items'],
      'event.conversion_id': ['identifier', 'Event ID, by which duplicates are recognized'],
      'event.email_address': ['identifier', 'E-mail address, hashed'],
      'event.phone_number': ['identifier', 'Phone number, hashed'],
      'event.search_string': ['text', 'Words that were searched'],
    },
  },
  {
    url: 'https://docs.x.com/x-ads-api/measurement/web-conversions',
    meanings: {
      conversion_time: ['time', 'Time of the conversion'],
      conversion_id: ['identifier', 'Event ID, by which duplicates are recognized'],
      number_items: ['number', 'Number of items'],
      price_currency: ['code', 'Currency of the value (ISO 4217)'],
      value: ['amount', 'Value of the conversion'],
      'identifiers.#.hashed_email': ['identifier', 'E-mail address, hashed'],
      'identifiers.#.hashed_phone_number': ['identifier', 'Phone number, hashed'],
      'identifiers.#.twclid': ['identifier', 'Click ID of an ad on X'],
      'contents.#.content_id': ['identifier', 'ID of the product'],
      'contents.#.content_name': ['text', 'Name of the product'],
      'contents.#.content_price': ['amount', 'Price of one product'],
      'contents.#.num_items': ['number', 'Number of products'],
    },
  },
]

/** Formerly Twitter. Each event is sent to two hosts. The request to `t.co` is the copy. */
export const xPixel: Decoder = {
  vendor: 'X Pixel',
  source: 'https://business.x.com/en/help/campaign-measurement-and-analytics/conversion-tracking-for-websites',
  keys: KEYS,
  hosts: [
    'analytics.twitter.com',
    'analytics.x.com',
    't.co',
    'static.ads-twitter.com',
    'ads-api.x.com',
    'ads-api.twitter.com',
  ],
  routes: [
    // A request without a pixel id only synchronises ids.
    { ...sideChannel(ADSCT), when: ({ host, fields }) => host === 't.co' || !('txn_id' in fields) },
    { path: ADSCT, read: ({ fields }) => readEvents(fields) },
    // https://docs.x.com/x-ads-api/measurement/web-conversions
    serverEvents(/^\/\d+\/measurement\/conversions\/(?<account>[^/]+)\/?$/, { list: 'conversions', event: 'event_id' }),
    scriptLoad(/^\/(?:uwt|oct)\.js$/),
  ],
}

/**
 * Events have names in `events` (`[["pageview", {…}]]`), or were created in Events Manager and are named after their
 * id: `txn_id=tw-<pixel>-<event>`. When the tag is configured, it sends a request that contains only the pixel id.
 */
function* readEvents(fields: Params): Iterable<DecodedEvent> {
  const { txn_id = '' } = fields
  const account = scalarOrNull(/^tw-([^-]+)-/.exec(txn_id)?.[1] ?? txn_id)
  const params = { ...fields, event: unfolded(fields.event) }
  const events = unfolded(fields.events)
  if (!Array.isArray(events) || events.length === 0) {
    yield { event: txn_id.startsWith('tw-') ? txn_id : 'config', account, params }
    return
  }
  for (const entry of events) {
    const [name, values] = Array.isArray(entry) ? entry : [entry]
    yield { event: scalarText(name), account, params: { ...params, events: values ?? undefined } }
  }
}
