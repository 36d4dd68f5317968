import type { DecodedEvent, Decoder } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const CALL = /^\/(?<kind>xc|xconv|conv|pageload|identify)\/(?<account>[^/]+)(?:\/[^/]+)*\/?$/

/**
 * Calls are sent to a host of impact.com for the brand: `<brand>.pxf.io`. The path contains the brand, the ad and the
 * campaign.
 */
export const impact: Decoder = {
  vendor: 'impact.com',
  source: 'https://integrations.impact.com/impact-brand/docs/universal-tracking-tag-utt-overview',
  hosts: ['pxf.io', 'sjv.io', 'evyy.net', 'ojrq.net', 'impactcdn.com', 'impactradius-event.com', 'trkapi.impact.com'],
  routes: [{ path: CALL, read: readCall }, scriptLoad(/^\/(?<account>A\d+)-[0-9a-f-]+\.js$/)],
}

/** Reads a visit, or a conversion with its action and order. */
function readCall({ path, fields }: VendorRequest): DecodedEvent[] {
  const { kind = '', account = null } = CALL.exec(path)?.groups ?? {}
  return [{ event: kind.endsWith('conv') ? 'conversion' : 'visit', account, params: fields }]
}
