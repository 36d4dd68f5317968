import type { DecodedEvent, Decoder } from './decoder.ts'
import { looksLike, unfolded } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const plausible: Decoder = {
  vendor: 'Plausible',
  source: 'https://plausible.io/docs/events-api',
  hosts: ['plausible.io'],
  routes: [
    { path: /^\/api\/event\/?$/, read: readEvent },
    { ...scriptLoad(/^\/js\/(?<account>pa-[\w-]+)\.js$/) },
    scriptLoad(/^\/js\/(?:script|plausible|analytics)[\w.-]*\.js$/),
    // Requests to a self-hosted server, or through a proxy with any path. The script writes the keys in this order.
    {
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{"n":"(?=[\s\S]*"u":"http)[\s\S]*"d":"/,
      when: ({ body }) => looksLike(body, '{"n":"', '"u":"http', '"d":"'),
      read: readEvent,
    },
    // Servers use unabbreviated keys.
    {
      path: /\/api\/event\/?$/,
      anyHost: true,
      // Plausible's API accepts only these fields, whereas a shop's own API would have other fields as well.
      when: ({ body }) => isServerEvent(body),
      read: readEvent,
    },
  ],
}

/** The keys that Plausible's API accepts. The first three are required. */
const SERVER_KEYS = new Set(['name', 'url', 'domain', 'referrer', 'props', 'revenue', 'interactive', 'screen_width'])

function isServerEvent(body: string | null): boolean {
  if (!looksLike(body, '{', '"name":"', '"domain":"', '"url":"')) return false
  const sent = unfolded(body)
  return Object.keys(objectOf(sent)).every((key) => SERVER_KEYS.has(key))
}

/** Reads an event. The script abbreviates keys, servers do not. The properties may be JSON text. */
function readEvent({ json }: VendorRequest): DecodedEvent[] {
  const { n, name, d, domain, ...rest } = json
  const params: Record<string, unknown> = { ...json }
  for (const key of ['p', 'm', 'props']) if (key in rest) params[key] = unfolded(rest[key])
  return [{ event: scalarText(n ?? name), account: scalarOrNull(d ?? domain), params }]
}
