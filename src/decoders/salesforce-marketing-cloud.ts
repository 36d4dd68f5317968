import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, unfolded } from './json.ts'
import { objectOf, scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const TRACK = /^\/c2\/(?<account>\d+)\/(?<event>track_\w+|process_batch)(?:\.json)?$/

/** Collect code for Einstein recommendations. The account is the MID of the business unit. */
export const salesforceMarketingCloud: Decoder = {
  vendor: 'Salesforce Marketing Cloud',
  source: 'https://developer.salesforce.com/docs/marketing/marketing-cloud/guide/collect-code.html',
  hosts: ['igodigital.com'],
  routes: [
    { path: TRACK, read: readTrack },
    { path: /^\/collect\.js$/, carries: 'library', read: readLibrary },
    scriptLoad(/\.js$/),
  ],
}

/** Reads the event, which is JSON in the parameter `payload` of the query or in the body. */
function readTrack(request: VendorRequest): DecodedEvent[] {
  const { account, event = '' } = TRACK.exec(request.path)?.groups ?? {}
  const { payload, ...rest } = isJson(request.body) ? request.json : request.fields
  return [{ event, account: scalarOrNull(account), params: { ...rest, ...objectOf(unfolded(payload)) } }]
}

function readLibrary({ host, query }: VendorRequest): DecodedEvent[] {
  return [{ event: '', account: host.split('.', 1)[0] ?? null, kind: 'library', params: query }]
}
