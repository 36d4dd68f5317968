import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { isJson, readJsonObjects } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** https://developers.snap.com/api/marketing-api/Conversions-API */
const SERVER = /^\/v\d\/(?<account>[^/]+)\/events\/?$/

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://businesshelp.snapchat.com/s/article/pixel-website-install',
    meanings: {
      pid: ['identifier', 'ID of the pixel'],
      ev: ['text', 'Name of the event'],
      pl: ['url', 'Address of the page'],
      price: ['amount', 'Value of the event'],
      currency: ['code', 'Currency of the value (ISO 4217)'],
      transaction_id: ['identifier', 'ID of the order'],
      item_ids: ['identifier', 'IDs of the products'],
      item_category: ['text', 'Category of the product'],
      number_items: ['number', 'Number of items'],
      search_string: ['text', 'Words that were searched'],
      sign_up_method: ['text', 'Method of signing up'],
      client_dedup_id: ['identifier', 'Event ID, by which a copy from a server is recognized'],
    },
  },
  {
    url: 'https://developers.snap.com/api/marketing-api/Conversions-API',
    meanings: {
      event_name: ['text', 'Name of the event'],
      event_time: ['time', 'Time of the event since 1970'],
      event_id: ['identifier', 'Event ID, by which a copy from a browser is recognized'],
      event_source_url: ['url', 'Address of the page'],
      action_source: ['code', 'Where the event happened, such as WEB'],
      'user_data.em': ['identifier', 'E-mail address, hashed'],
      'user_data.ph': ['identifier', 'Phone number, hashed'],
      'user_data.sc_click_id': ['identifier', 'Click ID of a Snapchat ad'],
      'user_data.sc_cookie1': ['identifier', 'Browser ID, from the cookie _scid'],
      'user_data.client_ip_address': ['text', 'IP address of the visitor'],
      'user_data.client_user_agent': ['text', 'User agent of the browser'],
      'custom_data.value': ['amount', 'Value of the event'],
      'custom_data.currency': ['code', 'Currency of the value (ISO 4217)'],
      'custom_data.order_id': ['identifier', 'ID of the order'],
      'custom_data.content_ids': ['identifier', 'IDs of the products'],
      'custom_data.num_items': ['number', 'Number of items'],
    },
  },
]

export const snapchatPixel: Decoder = {
  vendor: 'Snapchat Pixel',
  source: 'https://businesshelp.snapchat.com/s/article/pixel-website-install',
  keys: KEYS,
  hosts: ['tr.snapchat.com', 'tr6.snapchat.com', 'tr-shadow.snapchat.com', 'sc-static.net'],
  routes: [
    { path: /^\/p\/?$/, read: readTracks },
    serverEvents(SERVER, { list: 'data', event: 'event_name' }),
    // The previous version: one event, or a list of events.
    { path: /^\/v2\/conversion\/?$/, read: readConversions },
    // Requests that validate events without counting them, or return statistics on received events.
    sideChannel(/^\/v\d\/(?:conversion\/|[^/]+\/events\/)/),
    // Identity sync.
    sideChannel(/^\/(?:cm|collector)\//),
    scriptLoad(/^\/config\/[^/]+\/(?<account>[^/.]+)\.js$/),
    scriptLoad(/^\/scevent(?:\.min)?\.js$/),
  ],
}

/**
 * `{ctx, req: [{t: {pid, ev, …}}, …]}`. Entries without `t` report the start of the pixel or are logs. The previous
 * format was one event in a form.
 */
function* readTracks(request: VendorRequest): Iterable<DecodedEvent> {
  const { fields } = request
  if (!isJson(request.body) && 'pid' in fields) {
    yield { event: fields.ev ?? '', account: scalarOrNull(fields.pid), params: fields }
    return
  }
  const { ctx, req } = request.json
  for (const { t } of objectsOf(req)) {
    if (!t) continue
    const track = objectOf(t)
    yield { event: scalarText(track.ev), account: scalarOrNull(track.pid), params: { ctx, ...track } }
  }
}

function* readConversions({ body }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of readJsonObjects(body)) {
    const account = scalarOrNull(event.pixel_id ?? event.app_id)
    yield { event: scalarText(event.event_type), account, params: event }
  }
}
