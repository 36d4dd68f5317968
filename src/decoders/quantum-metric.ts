import type { DecodedEvent, Decoder } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const INGEST = /^\/horizon\/(?<account>[\w-]+)\/?$/

/** Recordings are compressed. The account is the subscription: `shop` in `shop-app.quantummetric.com`. */
export const quantumMetric: Decoder = {
  vendor: 'Quantum Metric',
  source: 'https://community.quantummetric.com/s/article/Content-Security-Policy',
  hosts: ['quantummetric.com'],
  routes: [
    { path: INGEST, read: readPart },
    {
      path: /^\/$/,
      when: ({ host, query }) => host.endsWith('-app.quantummetric.com') && 'T' in query,
      read: readPart,
    },
    scriptLoad(/^\/(?:qscripts|instrumentation\/[\w.-]+)\/quantum-(?<account>[\w-]+)\.js$/),
    { ...sideChannel(/^\//), when: ({ host }) => /^(?:rl|ingest)\./.test(host) },
  ],
}

/** Reads a part of a recording. The parts for a page are numbered (`N`), and the first one is the page view. */
function readPart({ host, path, query }: VendorRequest): DecodedEvent[] {
  if (Number(query.N ?? 0) !== 0 || query.T !== 'B') return []
  const account = INGEST.exec(path)?.groups?.account ?? host.replace(/-app\.quantummetric\.com$/, '')
  return [{ event: 'page_view', account: scalarOrNull(account), params: query }]
}
