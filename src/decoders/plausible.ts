import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { looksLike, unfolded } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://plausible.io/docs/events-api',
    meanings: {
      n: ['text', 'Name of the event'],
      u: ['url', 'Address of the page'],
      d: ['text', 'Domain of the site'],
      r: ['url', 'Address of the previous page'],
      'p.*': [null, 'Custom property, set by the site'],
      name: ['text', 'Name of the event'],
      url: ['url', 'Address of the page'],
      domain: ['text', 'Domain of the site'],
      referrer: ['url', 'Address of the previous page'],
      'props.*': [null, 'Custom property, set by the site'],
      'revenue.amount': ['amount', 'Revenue of the event'],
      'revenue.currency': ['code', 'Currency of the revenue (ISO 4217)'],
      interactive: ['boolean', 'False if the event does not affect the bounce rate'],
    },
  },
]

export const plausible: Decoder = {
  vendor: 'Plausible',
  source: 'https://plausible.io/docs/events-api',
  keys: KEYS,
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
