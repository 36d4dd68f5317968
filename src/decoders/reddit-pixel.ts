import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { objectsIn } from './json.ts'
import { objectOf, type Params, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const SERVER =
  /^\/api\/v[\d.]+\/(?:pixels\/(?<pixel>[^/]+)\/conversion_events|conversions\/events\/(?<advertiser>[^/]+))\/?$/

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://business.reddithelp.com/s/article/reddit-pixel',
    meanings: {
      id: ['identifier', 'ID of the pixel'],
      event: ['text', 'Name of the event'],
      ts: ['time', 'Time of the event, in milliseconds since 1970'],
      uuid: ['identifier', 'Browser ID, from the cookie _rdt_uuid'],
      em: ['identifier', 'E-mail address, hashed'],
      external_id: ['identifier', 'ID of the visitor, assigned by the site'],
      'm.itemCount': ['number', 'Number of items'],
      'm.valueDecimal': ['amount', 'Value of the event, as a decimal number'],
      'm.currency': ['code', 'Currency of the value (ISO 4217)'],
      'm.transactionId': ['identifier', 'ID of the order'],
      'm.conversionId': ['identifier', 'Event ID, by which a copy from a server is recognized'],
      'm.customEventName': ['text', 'Name of a custom event'],
      'm.products': ['text', 'Products, as JSON'],
      opt_out: ['boolean', '1 if the visitor refused tracking'],
    },
  },
]

export const redditPixel: Decoder = {
  vendor: 'Reddit Pixel',
  source: 'https://business.reddithelp.com/s/article/reddit-pixel',
  keys: KEYS,
  hosts: [
    'alb.reddit.com',
    'redditstatic.com',
    'pixel-config.reddit.com',
    'conversions-config.reddit.com',
    'ads-api.reddit.com',
  ],
  routes: [
    pixel(/^\/(?:rp|snoo)(?:\.gif)?$/, { account: 'id', event: eventName }),
    scriptLoad(/^\/ads\/(?:.+\/)?pixel\.js$/, 'pixel_id'),
    scriptLoad(/^\/ads\/conversions-config\/v1\/pixel\/config\/(?<account>[^/]+?)(?:_telemetry)?$/),
    // https://ads-api.reddit.com/docs/v3/operations/Post%20Conversion%20Events, and its predecessor, version 2.
    { path: SERVER, read: readServerEvents },
    sideChannel(/^\/pixels\//),
  ],
}

/** Returns an event's name. All custom events have the type `Custom`. */
function eventName({ event = '', 'm.customEventName': custom }: Params): string {
  return event === 'Custom' ? custom || event : event
}

/**
 * `{data: {events: [event, …], test_id}}`, without `data` in version 2. A custom event has a name in addition to its
 * type.
 */
function* readServerEvents(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  const { path, json } = request
  const { pixel, advertiser } = SERVER.exec(path)?.groups ?? {}
  const { events, ...rest } = 'data' in json ? objectOf(json.data) : json
  const shared = sharedOf(rest)
  for (const event of objectsIn(events)) {
    const { tracking_type, custom_event_name } = objectOf(event.type ?? event.event_type)
    const type = scalarText(tracking_type)
    const name = /^custom$/i.test(type) ? scalarText(custom_event_name) || type : type
    yield { event: name, account: scalarOrNull(pixel ?? advertiser), params: { ...shared, ...event } }
  }
}
