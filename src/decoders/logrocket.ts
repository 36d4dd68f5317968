import type { DecodedEvent, Decoder } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Recordings, which include `track` calls, are a binary stream. The vendor changes its hosts to evade ad blockers. */
export const logRocket: Decoder = {
  vendor: 'LogRocket',
  source: 'https://docs.logrocket.com/reference/content-security-policy',
  hosts: [
    'logrocket.io',
    'lr-in.com',
    'lr-in-prod.com',
    'lr-ingest.com',
    'lr-ingest.io',
    'lr-intake.com',
    'logr-in.com',
    'logr-ingest.com',
    'ingest-lr.com',
    'intake-lr.com',
    'lgrckt-in.com',
  ],
  routes: [
    { path: /^\/i$/, when: ({ query }) => 'a' in query, read: readPart },
    { ...scriptLoad(/\.js$/), when: ({ host }) => host.startsWith('cdn') },
  ],
}

/**
 * Reads a part of a recording. The parts of a recording (`r`) are numbered (`s`). The first part marks the start of the
 * recording.
 */
function readPart({ query }: VendorRequest): DecodedEvent[] {
  return query.s === '0' ? [{ event: 'session', account: scalarOrNull(query.a), params: query }] : []
}
