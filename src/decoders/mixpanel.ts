import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import {
  fromBase64,
  isJson,
  looksLike,
  openedBase64,
  readJsonLines,
  readJsonObjects,
  sentJsonMark,
  sourceInBase64,
} from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Operations of a profile update: https://developer.mixpanel.com/reference/profile-set */
const UPDATES = /^\$(?:set|set_once|add|append|union|remove|unset|delete)$/

/** Start of the form, in each encoding that the SDK has used. */
const EVENTS = /^data=(?:%7B%22event%22|%5B%7B%22event%22|eyJldmVudCI6|W3siZXZlbnQi)/

/** Keys of an event, rarest first. */
const OWN_KEYS = ['"mp_lib":', '"token":', '"properties":', '"event":']

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://docs.mixpanel.com/docs/data-structure/property-reference',
    meanings: {
      'properties.token': ['identifier', 'Token of the project'],
      'properties.distinct_id': ['identifier', 'ID of the user or device'],
      'properties.time': ['time', 'Time of the event since 1970'],
      'properties.$insert_id': ['identifier', 'Event ID, by which duplicates are recognized'],
      'properties.$device_id': ['identifier', 'Device ID: the browser or installation'],
      'properties.$user_id': ['identifier', 'User ID assigned by the site'],
      'properties.$browser': ['text', 'Browser'],
      'properties.$browser_version': ['code', 'Version of the browser'],
      'properties.$os': ['text', 'Operating system'],
      'properties.$device': ['text', 'Device'],
      'properties.$current_url': ['url', 'Address of the page'],
      'properties.$referrer': ['url', 'Address of the previous page'],
      'properties.$referring_domain': ['text', 'Domain of the previous page'],
      'properties.$initial_referrer': ['url', 'Referrer at the first visit'],
      'properties.$initial_referring_domain': ['text', 'Domain of the referrer at the first visit'],
      'properties.$search_engine': ['text', 'Search engine that led to the page'],
      'properties.$screen_height': ['number', 'Height of the screen in pixels'],
      'properties.$screen_width': ['number', 'Width of the screen in pixels'],
      'properties.mp_lib': ['text', 'Library that sent the event'],
      'properties.$lib_version': ['code', 'Version of the library'],
      'properties.*': [null, 'Property of the event, set by the site'],
      $token: ['identifier', 'Token of the project'],
      $distinct_id: ['identifier', 'ID of the user or device'],
    },
  },
]

export const mixpanel: Decoder = {
  vendor: 'Mixpanel',
  source: 'https://developer.mixpanel.com/reference/track-event',
  keys: KEYS,
  hosts: ['mixpanel.com', 'mxpnl.com'],
  routes: [
    { path: /^\/(?:track|import)\/?$/, read: readEvents },
    { path: /^\/(?:engage|groups)\/?$/, read: readUpdates },
    // Settings, feature flags, session replay.
    sideChannel(/^\/(?:decide|record|flags|settings)\/?$/),
    scriptLoad(/^\/libs\/mixpanel/),
    // Requests through a proxy that does not change paths.
    {
      path: /\/track\/?$/,
      anyHost: true,
      mark: new RegExp(`^(?=[\\s\\S]*(?:%22token%22%3A|${sourceInBase64('"token":')})).*\\n${EVENTS.source.slice(1)}`),
      when: isFromSdk,
      read: readEvents,
    },
    // Requests with a renamed path, which evades ad blockers.
    {
      path: /^/,
      anyHost: true,
      mark: sentJsonMark('"mp_lib":', '"token":', '"event":'),
      when: isTracking,
      read: readEvents,
    },
    {
      path: /\/(?:engage|groups)\/?$/,
      anyHost: true,
      mark: /^.*\ndata=[\s\S]*%22%24token%22/,
      when: ({ body }) => looksLike(body, 'data=', '%22%24token%22'),
      read: readUpdates,
    },
  ],
}

/** True for a body that has a token among the properties of an event, where the SDK always adds it. */
function isFromSdk({ body, fields }: VendorRequest): boolean {
  if (!EVENTS.test(body ?? '')) return false
  const { data = '' } = fields
  return (isJson(data) ? data : fromBase64(data)).includes('"token":')
}

/** True for events with any path, which are recognised by the keys that SDKs add to each event. */
function isTracking(request: VendorRequest): boolean {
  const { sdkJson } = request
  return OWN_KEYS.every((key) => sdkJson.includes(key))
}

function* readEvents(request: VendorRequest): Iterable<DecodedEvent> {
  const projectId = request.query.project_id
  for (const sent of readData(request)) {
    yield {
      event: scalarText(sent.event),
      account: scalarOrNull(objectOf(sent.properties).token ?? projectId),
      params: sent,
    }
  }
}

/** Yields the updates of profiles and groups. They are named after their operation. */
function* readUpdates(request: VendorRequest): Iterable<DecodedEvent> {
  for (const sent of readData(request)) {
    const event = Object.keys(sent).find((key) => UPDATES.test(key)) ?? ''
    yield { event, account: scalarOrNull(sent.$token), params: sent }
  }
}

/**
 * Reads JSON from the body, which may have one object per line, or from a field of a form or the query, in plain text
 * or base64.
 */
function readData({ body, fields }: VendorRequest): Record<string, unknown>[] {
  const opened = openedBase64(body ?? '')
  if (isJson(opened)) return readJsonLines(opened)
  const { data = '' } = fields
  return readJsonObjects(isJson(data) ? data : fromBase64(data))
}
