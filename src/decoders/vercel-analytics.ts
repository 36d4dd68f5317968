import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { looksLike } from './json.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const VITALS: Route = { path: /^\/v1\/vitals$|\/_vercel\/speed-insights\/vitals$/, read: readVitals }

/** On the customer's own host. The request does not contain the project. */
export const vercelAnalytics: Decoder = {
  vendor: 'Vercel Analytics',
  source: 'https://vercel.com/docs/analytics',
  hosts: ['vercel-insights.com', 'vercel-scripts.com'],
  routes: [
    { path: /\/_vercel\/insights\/(?:view|event|session)$/, anyHost: true, read: readEvent },
    { ...VITALS, path: /\/_vercel\/speed-insights\/vitals$/, anyHost: true },
    VITALS,
    { ...scriptLoad(/\/_vercel\/(?:speed-)?insights\/script\.js$/), anyHost: true },
    scriptLoad(/^\/v1\/.*\.js$/),
    // Requests with a project-specific path, which evades ad blockers.
    {
      path: /^\/[\w-]+\/(?:view|event)$/,
      anyHost: true,
      mark: /^.*\n\{"o":"http[\s\S]*"sdkn":"@vercel\/analytics/,
      when: ({ body }) => looksLike(body, '{"o":"http', '"sdkn":"@vercel/analytics'),
      read: readEvent,
    },
  ],
}

/** `en` is the name of a custom event. */
function readEvent({ path, json }: VendorRequest): DecodedEvent[] {
  const kind = path.endsWith('/view') ? 'pageview' : (path.split('/').at(-1) ?? '')
  return [{ event: scalarText(json.en) || kind, account: null, params: json }]
}

/** Reads performance metrics, which are in JSON, or in a form if sent by an older version. */
function readVitals(request: VendorRequest): DecodedEvent[] {
  if (!request.body?.startsWith('{')) return []
  const { json } = request
  return [{ event: scalarText(json.event_name) || 'vitals', account: scalarOrNull(json.dsn), params: json }]
}
