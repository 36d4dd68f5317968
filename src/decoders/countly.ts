import type { DecodedEvent, Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { emptyParams, formMark, isForm, objectsOf, type Params, readQuery, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Types of requests other than events, in order of precedence. Countly is self-hosted or served from `<name>.count.ly`.
 */
const KINDS = [
  'begin_session',
  'session_duration',
  'end_session',
  'user_details',
  'consent',
  'crash',
  'apm',
  'location',
]

const KEY = /^[\da-f]{40}$/

const hasKey = ({ search, body }: VendorRequest) => search.includes('app_key=') || (body?.includes('app_key=') ?? false)

export const countly: Decoder = {
  vendor: 'Countly',
  source: 'https://support.countly.com/hc/en-us/articles/9290669873305-A-Guide-to-Building-Your-Own-SDK',
  hosts: [],
  routes: [
    {
      path: /\/i\/?$/,
      anyHost: true,
      mark: /^(?=[\s\S]*[?&\n]app_key=)[\s\S]*[?&\n]device_id=/,
      when: (request) => hasKey(request) && 'app_key' in request.fields && 'device_id' in request.fields,
      read: ({ fields }) => readRequest(fields),
    },
    {
      path: /\/i\/bulk\/?$/,
      anyHost: true,
      mark: /^(?=[\s\S]*[?&\n]app_key=)[\s\S]*[?&\n]requests=/,
      when: (request) => hasKey(request) && 'requests' in request.fields,
      read: readBulk,
    },
    // Requests with a renamed path, which evades ad blockers. They contain the SDK's name, and keys have 40 hex digits.
    {
      path: /^/,
      anyHost: true,
      mark: formMark('app_key=[\\da-f]{40}', 'sdk_name='),
      when: (request) =>
        hasKey(request) &&
        (!request.body || isForm(request.body)) &&
        KEY.test(request.fields.app_key ?? '') &&
        'sdk_name' in request.fields,
      read: (request) => ('requests' in request.fields ? readBulk(request) : readRequest(request.fields)),
    },
    // Settings, texts and forms that are shown to the visitor.
    { ...sideChannel(/\/o\/(?:sdk|surveys|feedback)\b/), anyHost: true, when: hasKey },
    { ...scriptLoad(/\/countly(?:\.min)?\.js$/), anyHost: true },
  ],
}

function* readBulk({ fields }: VendorRequest): Iterable<DecodedEvent> {
  const { requests, ...shared } = fields
  const list = unfolded(requests)
  for (const request of Array.isArray(list) ? list : []) {
    const sent = typeof request === 'string' ? readQuery(request) : request
    for (const one of objectsOf([sent])) yield* readRequest({ ...shared, ...one })
  }
}

/** `events` is a JSON list of `{key, count, segmentation}`. A request without events is named after its type. */
function* readRequest({ events, ...shared }: Params | Record<string, unknown>): Iterable<DecodedEvent> {
  const account = scalarOrNull(shared.app_key)
  for (const event of objectsOf(unfolded(events))) {
    yield { event: scalarText(event.key), account, params: Object.assign(emptyParams(), shared, event) }
  }
  const kind = KINDS.find((key) => key in shared)
  if (kind)
    yield { event: kind, account, params: Object.assign(emptyParams(), shared, { [kind]: unfolded(shared[kind]) }) }
}
