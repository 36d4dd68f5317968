import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, looksLike, readJsonObjects, unfolded } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Events that Tealium Collect sends to Tealium's server-side products. The account is `<account>/<profile>`. */
export const tealiumEventstream: Decoder = {
  vendor: 'Tealium EventStream',
  source: 'https://docs.tealium.com/platforms/http-api/',
  hosts: ['tealiumiq.com'],
  routes: [
    { path: /^\/(?:bulk-)?event\/?$/, read: readEvents },
    { path: /^\/[\w-]+\/[\w.-]+\/\d+\/i\.gif$/, read: readPixel },
    { path: /^\/vdata\/i\.gif$/, read: ({ fields }) => [toEvent(fields, '')] },
    // Visitor identity and profile.
    sideChannel(/\/i\.js$|^\/[\w-]+\/[\w.-]+\/\w{20,}$|^\/(?:id|datacloud)\b/),
    // Requests to the customer's own host, where the path may be different.
    {
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{(?=[\s\S]*"tealium_account")[\s\S]*"tealium_event"/,
      when: ({ body }) => looksLike(body, '{', '"tealium_account"', '"tealium_event"'),
      read: readEvents,
    },
    {
      path: /^\/[\w-]+\/[\w.-]+\/\d+\/i\.gif$/,
      anyHost: true,
      mark: /^.*\n[\s\S]*tealium_/,
      when: ({ body }) => looksLike(body, '', 'tealium_'),
      read: readPixel,
    },
  ],
}

/** One event, or `{shared, events: [event, …]}`. If there is no body, the query contains the event. */
function* readEvents({ body, fields }: VendorRequest): Iterable<DecodedEvent> {
  if (!isJson(body)) {
    yield toEvent(fields, '')
    return
  }
  for (const sent of readJsonObjects(body)) {
    if (sent.events === undefined) yield toEvent(sent, '')
    const shared = sharedOf(objectOf(sent.shared))
    for (const event of objectsOf(sent.events)) yield toEvent({ ...shared, ...event }, '')
  }
}

/** The form field `data` contains `{data: {…}, event: 'view'}`. The account is in the path. */
function readPixel({ path, fields }: VendorRequest): DecodedEvent[] {
  const { data, ...rest } = fields
  const sent = objectOf(unfolded(data))
  const inner = objectOf(sent.data)
  const event = toEvent({ ...rest, ...sent }, path.split('/').slice(1, 3).join('/'))
  return [{ ...event, event: scalarText(inner.tealium_event) || event.event }]
}

function toEvent(params: Record<string, unknown>, fallback: string): DecodedEvent {
  const { tealium_account, tealium_profile } = params
  const named = [tealium_account, tealium_profile].map(scalarText).filter(Boolean).join('/')
  const event = scalarText(params.tealium_event) || scalarText(params.event)
  return { event, account: scalarOrNull(named || fallback), params }
}
