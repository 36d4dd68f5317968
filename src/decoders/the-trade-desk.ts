import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

const TRACK = /^\/track\/(?<kind>pxl|conv|evnt|up|cei)\/?$/

export const theTradeDesk: Decoder = {
  vendor: 'The Trade Desk',
  source: 'https://partner.thetradedesk.com/v3/portal/data/doc/TrackingTagsOverview',
  hosts: ['adsrvr.org'],
  routes: [
    { path: TRACK, read: readTag },
    { path: /^\/track\/realtimeconversion\/?$/, read: readConversions },
    scriptLoad(/\.js$/),
    // Identity sync.
    sideChannel(/^\/track\/(?:cm[bfg]|rid|aduserid)\b/),
  ],
}

/** Tags have no names. They go by their kind: `up` is the universal one, `ct` says which tag it was. */
function readTag({ path, fields }: VendorRequest): DecodedEvent[] {
  const kind = TRACK.exec(path)?.groups?.kind ?? ''
  return [{ event: kind, account: scalarOrNull(fields.adv ?? fields.advertiser_id), params: fields }]
}

/** https://partner.thetradedesk.com/v3/portal/data/doc/DataConversionEventsApi: `{data: [{adv, event_name, …}]}` */
function* readConversions({ json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(Array.isArray(json.data) ? json.data : [json])) {
    yield { event: scalarText(event.event_name) || 'conversion', account: scalarOrNull(event.adv), params: event }
  }
}
