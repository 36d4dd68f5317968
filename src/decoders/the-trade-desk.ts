import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

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

/**
 * Reads a tag. Tags have no names, so the event is named after the type of the tag. `up` is the universal pixel. `ct`
 * identifies the tag.
 */
function readTag({ path, fields }: VendorRequest): DecodedEvent[] {
  const kind = TRACK.exec(path)?.groups?.kind ?? ''
  return [{ event: kind, account: scalarOrNull(fields.adv ?? fields.advertiser_id), params: fields }]
}

/** `{data: [{adv, event_name, …}]}`: https://partner.thetradedesk.com/v3/portal/data/doc/DataConversionEventsApi */
function* readConversions({ json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(Array.isArray(json.data) ? json.data : [json])) {
    yield { event: scalarText(event.event_name) || 'conversion', account: scalarOrNull(event.adv), params: event }
  }
}
