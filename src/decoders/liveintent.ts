import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, unfolded } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const liveIntent: Decoder = {
  vendor: 'LiveIntent',
  source: 'https://github.com/LiveIntent/live-connect',
  hosts: ['liadm.com'],
  routes: [
    { path: /^\/[jp]$/, read: readEvent },
    // Identity sync.
    sideChannel(/^\/(?:s|idex|s\/e)\b/),
    scriptLoad(/^\/(?:sync-container|(?<account>a-\w+|did-\w+)|lc2)(?:\.min)?\.js$/),
  ],
}

/** `se` contains the event as JSON in base64: `{"event":"conversion","amount":9.5}`. An empty object is a page view. */
function readEvent({ fields }: VendorRequest): DecodedEvent[] {
  const state = objectOf(unfolded(fromBase64(fields.se ?? '')))
  const account = scalarOrNull(fields.aid ?? fields.did)
  return [{ event: scalarText(state.event) || 'pageView', account, params: { ...fields, se: state } }]
}
