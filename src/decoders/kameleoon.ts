import type { DecodedEvent, Decoder } from './decoder.ts'
import { insideJson, withEmbedded } from './embedded-params.ts'
import { emptyParams, readLines, readQuery, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const kameleoon: Decoder = {
  vendor: 'Kameleoon',
  source: 'https://developers.kameleoon.com/apis/data-api-rest/overview',
  hosts: ['kameleoon.io', 'kameleoon.eu', 'kameleoon.com'],
  routes: [
    { path: /^\/visit\/(?:events|tracking)$/, read: readLinesOfVisit },
    sideChannel(/^\/(?:visit|map)\/|^\/sse$/),
    { ...scriptLoad(/^\/v\d\/(?<account>[a-z0-9]{10})$/), when: ({ host }) => host.startsWith('sdk-config.') },
    { path: /^\/(?:engine|kameleoon)\.js$/, carries: 'library', read: readLibrary },
  ],
}

/** `eventType=page&href=…`: one event per line of the body, or a single event in the query. */
function* readLinesOfVisit({ query, body }: VendorRequest): Iterable<DecodedEvent> {
  const lines = readLines(body ?? '')
  for (const line of lines.length > 0 ? lines : ['']) {
    const sent = Object.assign(emptyParams(), query, readQuery(line.trim()))
    const params = withEmbedded(sent, insideJson(sent, 'valuesCountMap'))
    yield { event: sent.eventType ?? '', account: scalarOrNull(sent.siteCode), params }
  }
}

/** Each site has its own host. */
function readLibrary({ host, query }: VendorRequest): DecodedEvent[] {
  return [{ event: '', account: host.split('.', 1)[0] ?? null, kind: 'library', params: query }]
}
