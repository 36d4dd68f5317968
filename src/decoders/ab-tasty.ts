import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** https://docs.abtasty.com/server-side/data-collect-protocol */
export const abTasty: Decoder = {
  vendor: 'AB Tasty',
  source: 'https://docs.abtasty.com/server-side/data-collect-protocol',
  hosts: ['abtasty.com', 'flagship.io'],
  routes: [
    { path: /^\/(?:events)?$/, when: ({ host }) => /^(?:ariane|events)\./.test(host), read: readHits },
    jsonEvent(/^\/v2\/activate$/, { account: 'cid', event: () => 'activate' }),
    // Requests for the available variations, and reports on the vendor's own code.
    sideChannel(/^\/v2\/|^\/(?:analytics|troubleshooting)$|^\/v1\/geoip/),
    scriptLoad(/^\/(?<account>[0-9a-f]{32})(?:\.js|\/)/),
    {
      ...scriptLoad(/^\/(?<account>[\w-]+)\/(?:accountSettings|bucketing)\.json$/),
      when: ({ host }) => host.startsWith('cdn.'),
    },
  ],
}

/** One hit, or `{"t": "BATCH", "h": [hit, …]}`, where the batch has the fields that its hits share. */
function* readHits(request: VendorRequest): Iterable<DecodedEvent> {
  const sent: Record<string, unknown> = request.body ? request.json : request.query
  const { h, ...rest } = sent
  if (sent.t !== 'BATCH') {
    yield toEvent(sent)
    return
  }
  const shared = sharedOf(rest)
  for (const hit of objectsOf(h)) yield toEvent({ ...shared, ...hit })
}

/** Returns an event named after its action. Other hits are named after their type. */
function toEvent(hit: Record<string, unknown>): DecodedEvent {
  const type = scalarText(hit.t)
  const event = type === 'EVENT' ? scalarText(hit.ea) || type : type
  return { event, account: scalarOrNull(hit.cid), params: hit }
}
