import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const EVENTS = /^\/service\/event(?:\/batch)?(?:\/(?<account>[\w-]+))?\/?$/

/** Now mParticle Analytics. */
export const indicative: Decoder = {
  vendor: 'Indicative',
  source: 'https://support.indicative.com/hc/en-us/articles/360004147512-REST-API-Guide',
  hosts: ['indicative.com'],
  routes: [
    { path: EVENTS, read: readEvents },
    // Visitor properties.
    sideChannel(/^\/service\/(?:identify|alias)\b/),
    scriptLoad(/^\/js\/(?:[\w.-]+\/)?indicative[\w.-]*\.js$/i),
  ],
}

/**
 * One event, or `{apiKey, events: [event, …]}`. If there is no body, the query contains the event. The key may be in
 * the path.
 */
function* readEvents(request: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = request.body ? request.json : request.query
  const shared = sharedOf(rest)
  const fallback = EVENTS.exec(request.path)?.groups?.account
  for (const sent of events === undefined ? [rest] : objectsOf(events)) {
    const account = scalarOrNull(sent.apiKey ?? shared.apiKey ?? fallback)
    yield { event: scalarText(sent.eventName), account, params: { ...shared, ...sent } }
  }
}
