import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson } from './json.ts'
import { objectOf, objectsOf, readJsonObject, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Paths are the same through a proxy. Client keys have a common prefix. */
const isFromBrowser = ({ search, query }: VendorRequest) =>
  search.includes('k=client-') && (query.k?.startsWith('client-') ?? false)

const LOG = /\/v1\/(?:rgstr|log_event|log_event_beacon)\/?$/

export const statsig: Decoder = {
  vendor: 'Statsig',
  source: 'https://docs.statsig.com/http-api',
  hosts: [
    'statsigapi.net',
    'api.statsig.com',
    'events.statsig.com',
    'statsigcdn.com',
    'featureassets.org',
    'featuregates.org',
    'prodregistryv2.org',
    'assetsconfigcdn.org',
    'beyondwickedmapping.org',
  ],
  routes: [
    { path: LOG, read: readEvents },
    // The visitor's feature gates, and errors of the SDK.
    sideChannel(/^\/v1\/\w+\/?(?:client-\w+)?$/),
    scriptLoad(/\.js$/, 'apikey'),
    { path: LOG, anyHost: true, mark: /[?&]k=client-/, when: isFromBrowser, read: readEvents },
    { ...sideChannel(/\/v1\/(?:initialize|get_config|sdk_exception)\/?$/), anyHost: true, when: isFromBrowser },
  ],
}

/** `{events: [{eventName, value, metadata}, …]}` */
function* readEvents({ body, query }: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = readJsonObject(isJson(body) ? body : fromBase64(reversed(body)))
  const shared = sharedOf(rest)
  const account = scalarOrNull(query.k ?? objectOf(rest.statsigMetadata).sdkKey)
  for (const event of objectsOf(events)) {
    yield { event: scalarText(event.eventName), account, params: { ...shared, ...event } }
  }
}

/** Decodes a body in reversed base64, which the SDK uses to evade filters. */
function reversed(body: string | null): string {
  return [...(body ?? '')].reverse().join('')
}
