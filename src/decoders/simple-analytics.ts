import type { DecodedEvent, Decoder } from './decoder.ts'
import { type Params, scalarOrNull, scalarText } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS = { account: 'hostname', event: (params: Params) => nameOf(params.type, params.event) }

/** The account is the website's host name. */
export const simpleAnalytics: Decoder = {
  vendor: 'Simple Analytics',
  source: 'https://docs.simpleanalytics.com/events/server-side',
  hosts: ['simpleanalyticscdn.com', 'simpleanalytics.io', 'simpleanalytics.com'],
  routes: [
    pixel(/^\/(?:simple|noscript|hello)\.gif$/, KEYS),
    { path: /^\/(?:events|post)\/?$/, read: readPost },
    // Time spent on a page, which belongs to a page view that was sent earlier.
    sideChannel(/^\/(?:append|image\.gif)$/),
    scriptLoad(/^\/(?:latest|light|auto-events|hello|app|sri\/.*)(?:\.dev)?\.js$/),
    {
      ...pixel(/\/simple\.gif$/, KEYS),
      anyHost: true,
      mark: /^(?=.*[?&]hostname=).*[?&]type=/,
      when: ({ query }) => 'hostname' in query && 'type' in query,
    },
  ],
}

function nameOf(type: unknown, event: unknown): string {
  return (type === 'pageview' ? '' : scalarText(event)) || scalarText(type) || 'pageview'
}

function readPost({ json }: VendorRequest): DecodedEvent[] {
  return [{ event: nameOf(json.type, json.event), account: scalarOrNull(json.hostname), params: json }]
}
