import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { isJson, looksLike, readJsonObjects } from './json.ts'
import { formMark, isForm, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://amplitude.com/docs/apis/analytics/http-v2',
    meanings: {
      event_type: ['text', 'Name of the event'],
      user_id: ['identifier', 'User ID assigned by the site'],
      device_id: ['identifier', 'Device ID: the browser or installation'],
      session_id: ['identifier', 'Session ID: the time at which the session began'],
      event_id: ['number', 'Number that orders the events of a device'],
      insert_id: ['identifier', 'Event ID, by which duplicates are recognized'],
      time: ['time', 'Time of the event, in milliseconds since 1970'],
      'event_properties.*': [null, 'Property of the event, set by the site'],
      'user_properties.*': [null, 'Property of the user, set by the site'],
      'groups.*': [null, 'Group to which the user belongs'],
      app_version: ['code', 'Version of the app'],
      platform: ['text', 'Platform of the device'],
      os_name: ['text', 'Operating system'],
      os_version: ['text', 'Version of the operating system'],
      device_brand: ['text', 'Brand of the device'],
      device_manufacturer: ['text', 'Manufacturer of the device'],
      device_model: ['text', 'Model of the device'],
      carrier: ['text', 'Mobile carrier'],
      country: ['text', 'Country of the visitor'],
      region: ['text', 'Region of the visitor'],
      city: ['text', 'City of the visitor'],
      dma: ['code', 'Designated market area of the visitor'],
      language: ['text', 'Language of the visitor'],
      price: ['amount', 'Price of one item'],
      quantity: ['number', 'Number of items'],
      revenue: ['amount', 'Revenue of the event'],
      productId: ['identifier', 'ID of the product'],
      revenueType: ['text', 'Kind of revenue'],
      location_lat: ['number', 'Latitude of the visitor'],
      location_lng: ['number', 'Longitude of the visitor'],
      ip: ['text', 'IP address of the visitor'],
      idfa: ['identifier', 'Advertising ID of an Apple device'],
      idfv: ['identifier', 'Vendor ID of an Apple device'],
      adid: ['identifier', 'Advertising ID of an Android device'],
      android_id: ['identifier', 'ID of an Android device'],
    },
  },
]

export const amplitude: Decoder = {
  vendor: 'Amplitude',
  source: 'https://amplitude.com/docs/apis/analytics/http-v2',
  keys: KEYS,
  hosts: ['amplitude.com'],
  routes: [
    { path: /^\/(?:2\/httpapi|batch)\/?$/, read: readBatch },
    { path: /^\/(?:httpapi|identify|groupidentify)?\/?$/, when: ({ host }) => host.startsWith('api'), read: readForm },
    // Settings, flags, session replay, and reports on the vendor's own code.
    sideChannel(/^\/(?:config|sessions|sdk|v1)\//),
    scriptLoad(/^\/script\/(?<account>[^/.]+)(?:\.\w+)?\.js$/),
    scriptLoad(/^\/(?:libs|scripts)\//),
    // Requests through a proxy, with any path. The SDK adds the name of its library to each event.
    {
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{(?=[\s\S]*"api_key":")[\s\S]*"library":"amplitude-/,
      when: ({ body }) => looksLike(body, '{', '"api_key":"', '"library":"amplitude-'),
      read: readBatch,
    },
    // Requests of the previous SDK, whose checksum covers the key and the events.
    {
      path: /^/,
      anyHost: true,
      mark: formMark('client=', 'checksum=[\\da-f]{32}', 'e=(?:%5B%7B|\\[\\{)'),
      when: (request) =>
        isForm(request.body) &&
        looksLike(request.body, '', 'client=', 'checksum=', 'event_type') &&
        /^[\da-f]{32}$/.test(request.fields.checksum ?? ''),
      read: readForm,
    },
  ],
}

function* readBatch({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = json
  const shared = sharedOf(rest)
  const account = scalarOrNull(json.api_key)
  for (const event of objectsOf(events)) {
    yield { event: scalarText(event.event_type), account, params: { ...shared, ...event } }
  }
}

/** The older APIs. A form or the query contains all fields, and one field contains the events as JSON. */
function* readForm(request: VendorRequest): Iterable<DecodedEvent> {
  if (isJson(request.body)) {
    yield* readBatch(request)
    return
  }
  const { e, event, identification, ...rest } = request.fields
  const account = scalarOrNull(rest.api_key ?? rest.client)
  const other = request.path.startsWith('/group') ? '$groupidentify' : '$identify'
  for (const sent of readJsonObjects(e ?? event ?? identification)) {
    const name = identification === undefined ? scalarText(sent.event_type) : other
    yield { event: name, account, params: { ...rest, ...sent } }
  }
}
