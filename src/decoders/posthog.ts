import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { fromBase64, isJson, openedBase64, readJsonObjects, sentJsonMark } from './json.ts'
import { decompressFromBase64 } from './lz-string.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Matches a query or body with PostHog events: in plain text, in base64, or compressed by older SDKs. */
const MARK = new RegExp(
  `${sentJsonMark('"phc_', '"event":', '"properties":').source}|^(?=.*[?&]compression=lz64).*\\ndata=`,
)

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://posthog.com/docs/data/events',
    meanings: {
      event: ['text', 'Name of the event'],
      uuid: ['identifier', 'ID of the event'],
      timestamp: ['time', 'Time of the event'],
      distinct_id: ['identifier', 'ID of the user or device'],
      api_key: ['identifier', 'API key of the project'],
      'properties.token': ['identifier', 'API key of the project'],
      'properties.distinct_id': ['identifier', 'ID of the user or device'],
      'properties.$device_id': ['identifier', 'Device ID: the browser or installation'],
      'properties.$user_id': ['identifier', 'User ID assigned by the site'],
      'properties.$session_id': ['identifier', 'ID of the session'],
      'properties.$window_id': ['identifier', 'ID of the browser tab'],
      'properties.$insert_id': ['identifier', 'Event ID, by which duplicates are recognized'],
      'properties.$time': ['time', 'Time of the event, in seconds since 1970'],
      'properties.$current_url': ['url', 'Address of the page'],
      'properties.$host': ['text', 'Host of the page'],
      'properties.$pathname': ['text', 'Path of the page'],
      'properties.$referrer': ['url', 'Address of the previous page'],
      'properties.$referring_domain': ['text', 'Domain of the previous page'],
      'properties.$browser': ['text', 'Browser'],
      'properties.$browser_version': ['code', 'Version of the browser'],
      'properties.$browser_language': ['code', 'Language of the browser'],
      'properties.$os': ['text', 'Operating system'],
      'properties.$os_version': ['code', 'Version of the operating system'],
      'properties.$device_type': ['text', 'Type of the device'],
      'properties.$screen_height': ['number', 'Height of the screen in pixels'],
      'properties.$screen_width': ['number', 'Width of the screen in pixels'],
      'properties.$viewport_height': ['number', 'Height of the visible area in pixels'],
      'properties.$viewport_width': ['number', 'Width of the visible area in pixels'],
      'properties.$lib': ['text', 'Library that sent the event'],
      'properties.$lib_version': ['code', 'Version of the library'],
      'properties.$active_feature_flags': ['text', 'Feature flags that are on for the user'],
      'properties.$feature/*': [null, 'Value of a feature flag for the user'],
      'properties.utm_source': ['text', 'Source of the campaign'],
      'properties.utm_medium': ['text', 'Medium of the campaign'],
      'properties.utm_campaign': ['text', 'Name of the campaign'],
      'properties.utm_content': ['text', 'Content of the campaign'],
      'properties.utm_term': ['text', 'Keyword of the campaign'],
    },
  },
]

export const posthog: Decoder = {
  vendor: 'PostHog',
  source: 'https://posthog.com/docs/api/capture',
  keys: KEYS,
  hosts: ['posthog.com'],
  routes: [
    { path: /^\/(?:e|i\/v0\/e|batch|capture|track|engage)\/?$/, read: readCapture },
    // Feature flags and settings, session replay, logs.
    sideChannel(/^\/(?:decide|flags|s|i\/v1\/\w+|array\/[^/]+\/config(?:\.js)?|api\/(?:surveys|web_experiments))\/?$/),
    scriptLoad(/^\/array\/(?<account>[^/]+)\/.*\.js$/),
    scriptLoad(/^\/static\/.*\.js$/),
    // Requests through a proxy with any path prefix: https://posthog.com/docs/advanced/proxy
    {
      path: /\/(?:e|i\/v0\/e|batch|capture|engage)\/?$/,
      anyHost: true,
      mark: /^(?=.*[?&]ver=\d+\.\d+\.\d)(?=.*[?&]_=\d{13}).*[?&](?:compression|ip)=|"phc_/,
      when: isFromSdk,
      read: readCapture,
    },
    { ...sideChannel(/\/(?:decide|flags|s)\/?$/), anyHost: true, when: isFromSdk },
    // Requests with a renamed path, which evades ad blockers.
    { path: /^/, anyHost: true, mark: MARK, when: isCapture, read: readCapture },
    { ...sideChannel(/\/array\/phc_\w+\/config(?:\.js)?$/), anyHost: true },
    { ...scriptLoad(/\/array\/(?<account>phc_\w+)\/[\w.-]+\.js$/), anyHost: true },
    { ...scriptLoad(/\/static\/array(?:\.\w+)*\.js$/), anyHost: true },
  ],
}

/** A project's API key in JSON. */
const KEY = /"(?:api_key|token)":\s*"phc_/

/**
 * True for requests from the SDK. Current API keys have a common prefix, and the SDK adds its version and the time to
 * the query.
 */
function isFromSdk(request: VendorRequest): boolean {
  const { search, query } = request
  if (KEY.test(readOwnHost(request))) return true
  if (!search.includes('ver=')) return false
  const { ver = '', _: sentAt = '' } = query
  return /^\d+\.\d+\.\d/.test(ver) && /^\d{13}$/.test(sentAt) && ('compression' in query || 'ip' in query)
}

/** True for events with a project's API key, on any path. */
function isCapture(request: VendorRequest): boolean {
  const sent = readOwnHost(request)
  return (
    sent.includes('"phc_') && KEY.test(sent) && sent.includes('"event":') && /"(?:properties|distinct_id)":/.test(sent)
  )
}

/** Returns the JSON of a request to the customer's own host that may contain events; empty for other requests. */
function readOwnHost(request: VendorRequest): string {
  const { body, search } = request
  const sent = request.sdkJson
  if (sent !== '' || !search.includes('compression=lz64') || !body?.startsWith('data=')) return sent
  return readData(request) ?? ''
}

/** One event, a list of events, or `{batch: […]}`. The batch's key applies to events that have none. */
function* readCapture(request: VendorRequest): Iterable<DecodedEvent> {
  for (const { batch, ...rest } of readJsonObjects(readData(request))) {
    const shared = batch === undefined ? {} : sharedOf(rest)
    for (const own of batch === undefined ? [rest] : objectsOf(batch)) {
      const event: Record<string, unknown> = { ...shared, ...own }
      const key = objectOf(event.properties).token ?? event.api_key ?? event.token
      yield { event: scalarText(event.event), account: scalarOrNull(key), params: event }
    }
  }
}

/** Returns the JSON in the body, or in a field of a form or the query, in one of three encodings. */
function readData({ body, fields }: VendorRequest): string | null {
  const opened = openedBase64(body ?? '')
  if (isJson(opened)) return opened
  const { data = '', compression } = fields
  if (isJson(data)) return data
  return compression === 'lz64' ? decompressFromBase64(data) : fromBase64(data)
}
