import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Types of reports, with the names that the beacon's code uses. */
const TYPES = new Map([
  ['1', 'Load'],
  ['2', 'Additional'],
  ['3', 'WebVitalsV2'],
])

export const cloudflareWebAnalytics: Decoder = {
  vendor: 'Cloudflare Web Analytics',
  source: 'https://developers.cloudflare.com/web-analytics/',
  hosts: ['cloudflareinsights.com'],
  routes: [
    // Requests to the customer's own host, when Cloudflare serves it.
    { path: /^\/cdn-cgi\/rum$/, anyHost: true, read: readReport },
    { ...sideChannel(/^\/cdn-cgi\/beacon\/\w+$/), anyHost: true },
    scriptLoad(/^\/beacon(?:\.min)?\.js/),
  ],
}

function readReport({ json }: VendorRequest): DecodedEvent[] {
  const type = scalarText(json.eventType)
  const token = json.siteToken ?? objectOf(json.versions).siteToken
  return [{ event: TYPES.get(type) ?? type, account: scalarOrNull(token), params: json }]
}
