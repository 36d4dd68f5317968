import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, type Params, readJsonObject, scalarOrNull, scalarText, sharedOf } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

/** The browser library shortens the kinds of call in its paths. */
const TYPES: Params = { t: 'track', p: 'page', i: 'identify', g: 'group', a: 'alias', s: 'screen' }

export const segment: Decoder = {
  vendor: 'Segment',
  source: 'https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/',
  hosts: ['api.segment.io', 'api.segment.com', 'segmentapis.com', 'cdn.segment.com'],
  routes: [
    { path: /^\/v1\/(?:[tpigas]|track|page|identify|group|alias|screen|batch|b|import)\/?$/, read: readCall },
    { path: /^\/v1\/pixel\/\w+$/, read: readPixel },
    // Counters of the library itself; settings of the source.
    sideChannel(/^\/v1\/(?:m|projects\/[^/]+\/settings)$/),
    scriptLoad(/^\/analytics\.js\/v1\/(?<account>[^/]+)\//),
    scriptLoad(/^\/(?:analytics-next|next-integrations)\//),
  ],
}

/** One call, or `{batch: [call, …]}`; a call without a key of its own has the batch's. */
function* readCall({ path, json }: VendorRequest): Iterable<DecodedEvent> {
  const { batch, ...rest } = json
  if (batch === undefined) yield toEvent(json, path)
  const shared = sharedOf(rest)
  for (const call of objectsOf(batch)) yield toEvent({ ...shared, ...call }, path)
}

/** https://segment.com/docs/connections/sources/catalog/libraries/server/pixel-tracking-api/ */
function readPixel({ path, query }: VendorRequest): DecodedEvent[] {
  const call = query.data ? readJsonObject(Buffer.from(query.data, 'base64').toString()) : query
  return [toEvent(call, path)]
}

/** Only `track` calls have names; the others go by their kind. */
function toEvent(call: Record<string, unknown>, path: string): DecodedEvent {
  const last = path.replace(/\/$/, '').split('/').at(-1) ?? ''
  const type = scalarText(call.type) || (TYPES[last] ?? last)
  const event = type === 'track' ? scalarText(call.event) : type
  return { event, account: scalarOrNull(call.writeKey), params: call }
}
