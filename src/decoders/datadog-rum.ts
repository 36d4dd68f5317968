import type { DecodedEvent, Decoder } from './decoder.ts'
import { readJson } from './json.ts'
import { objectOf, readLines, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account is the application. Logs belong to no application, so their account is the client token. */
export const datadogRum: Decoder = {
  vendor: 'Datadog RUM',
  source: 'https://docs.datadoghq.com/real_user_monitoring/guide/proxy-rum-data/',
  hosts: [
    'browser-intake-datadoghq.com',
    'browser-intake-datadoghq.eu',
    'browser-intake-us3-datadoghq.com',
    'browser-intake-us5-datadoghq.com',
    'browser-intake-ap1-datadoghq.com',
    'browser-intake-ap2-datadoghq.com',
    'browser-intake-ddog-gov.com',
    'browser-http-intake.logs.datadoghq.com',
    'rum-http-intake.logs.datadoghq.com',
    'datadoghq-browser-agent.com',
  ],
  routes: [
    { path: /^\/api\/v2\/(?:rum|logs)$|^\/v1\/input\/\w+$/, read: readEvents },
    // Recordings, profiles, traces, and reports on the vendor's own code.
    sideChannel(/^\/api\/v\d\//),
    scriptLoad(/\.js$/),
    // The customer's own proxy. A parameter contains the URL to which the proxy forwards the request.
    {
      path: /^/,
      anyHost: true,
      mark: /[?&]ddforward=(?:\/|%2F)api(?:\/|%2F)v2(?:\/|%2F)(?:rum|logs)/,
      when: (request) => request.search.includes('ddforward=') && /^\/api\/v2\//.test(request.query.ddforward ?? ''),
      read: readForwarded,
    },
  ],
}

function readForwarded({ query, body }: VendorRequest): Iterable<DecodedEvent> {
  const [path, search] = (query.ddforward ?? '').split('?', 2)
  if (!/\/(?:rum|logs)$/.test(path ?? '')) return []
  return eventsIn(body, new URLSearchParams(search).get('dd-api-key'))
}

function readEvents({ path, query, body }: VendorRequest): Iterable<DecodedEvent> {
  return eventsIn(body, query['dd-api-key'] ?? path.split('/').at(-1) ?? null)
}

/** One event per line. An event is named after its type, but a custom action (`addAction`) has its own name. */
function* eventsIn(body: string | null, token: string | null): Iterable<DecodedEvent> {
  for (const line of readLines(body ?? '')) {
    const sent = objectOf(readJson(line))
    const action = objectOf(sent.action)
    const name = action.type === 'custom' ? scalarText(objectOf(action.target).name) : ''
    const account = scalarOrNull(objectOf(sent.application).id) ?? token
    yield { event: name || scalarText(sent.type) || 'log', account, params: sent }
  }
}
