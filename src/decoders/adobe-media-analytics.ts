import type { DecodedEvent, Decoder } from './decoder.ts'
import { looksLike } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { pixel, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const CALL = /\/api\/v1\/(?:sessions|downloaded)(?:\/(?<session>[^/]+)\/events)?\/?$/

/**
 * Measures video and audio. Formerly called Heartbeat. The older protocol uses form parameters `s:…`, the newer one
 * JSON.
 */
export const adobeMediaAnalytics: Decoder = {
  vendor: 'Adobe Media Analytics',
  source:
    'https://experienceleague.adobe.com/en/docs/media-analytics/using/implementation/analytics-only/streaming-media-apis/mc-api-overview',
  hosts: ['hb-api.omtrdc.net', 'hb.omtrdc.net', 'heartbeats.omtrdc.net'],
  routes: [
    { path: CALL, read: readCall },
    sideChannel(/^\/settings\//),
    pixel(/^\//, { account: 's:sc:rsid', event: 's:event:type' }),
    // Requests to the customer's own host.
    {
      path: CALL,
      anyHost: true,
      mark: /^.*\n\{[\s\S]*"playerTime"/,
      when: ({ body }) => looksLike(body, '{', '"eventType"', '"playerTime"'),
      read: readCall,
    },
  ],
}

/**
 * Reads a call. Only the call that starts a session contains the report suite. For Adobe's hosts, the host name
 * contains the customer's namespace.
 */
function readCall({ host, path, json }: VendorRequest): DecodedEvent[] {
  const suite = objectOf(json.params)['analytics.reportSuite']
  const namespace = host.endsWith('.omtrdc.net') ? host.split('.')[0] : null
  const sessionId = CALL.exec(path)?.groups?.session
  return [
    { event: scalarText(json.eventType), account: scalarOrNull(suite ?? namespace), params: { sessionId, ...json } },
  ]
}
