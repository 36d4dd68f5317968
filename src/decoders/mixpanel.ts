import type { DecodedEvent, Decoder } from './decoder.ts'
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
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

/** Operations of a profile update: https://developer.mixpanel.com/reference/profile-set */
const UPDATES = /^\$(?:set|set_once|add|append|union|remove|unset|delete)$/

/** How the form begins in each of the encodings the SDK has had. */
const EVENTS = /^data=(?:%7B%22event%22|%5B%7B%22event%22|eyJldmVudCI6|W3siZXZlbnQi)/

/** The rarest comes first. */
const OWN_KEYS = ['"mp_lib":', '"token":', '"properties":', '"event":']

export const mixpanel: Decoder = {
  vendor: 'Mixpanel',
  source: 'https://developer.mixpanel.com/reference/track-event',
  hosts: ['mixpanel.com', 'mxpnl.com'],
  routes: [
    { path: /^\/(?:track|import)\/?$/, read: readEvents },
    { path: /^\/(?:engage|groups)\/?$/, read: readUpdates },
    // Settings, flags, session replay.
    sideChannel(/^\/(?:decide|record|flags|settings)\/?$/),
    scriptLoad(/^\/libs\/mixpanel/),
    // Through a proxy, where the paths stay as they are.
    {
      path: /\/track\/?$/,
      anyHost: true,
      mark: new RegExp(`^(?=[\\s\\S]*(?:%22token%22%3A|${sourceInBase64('"token":')})).*\\n${EVENTS.source.slice(1)}`),
      when: isFromSdk,
      read: readEvents,
    },
    // Renamed to escape ad blockers.
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

/** Every event of the SDK has the project's token among its properties. */
function isFromSdk({ body, fields }: VendorRequest): boolean {
  if (!EVENTS.test(body ?? '')) return false
  const { data = '' } = fields
  return (isJson(data) ? data : fromBase64(data)).includes('"token":')
}

/** True for events under any path, by the keys that the SDKs add to each. */
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

/** Updates of profiles and groups are named by what they do. */
function* readUpdates(request: VendorRequest): Iterable<DecodedEvent> {
  for (const sent of readData(request)) {
    const event = Object.keys(sent).find((key) => UPDATES.test(key)) ?? ''
    yield { event, account: scalarOrNull(sent.$token), params: sent }
  }
}

/** A JSON body, also with one object a line, or one field of a form or of the query that holds JSON, plain or in base64. */
function readData({ body, fields }: VendorRequest): Record<string, unknown>[] {
  const opened = openedBase64(body ?? '')
  if (isJson(opened)) return readJsonLines(opened)
  const { data = '' } = fields
  return readJsonObjects(isJson(data) ? data : fromBase64(data))
}
