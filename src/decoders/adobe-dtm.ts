import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const LIBRARY = /\/satelliteLib-(?<account>[0-9A-Za-z]+)(?:-(?<environment>staging))?\.js[^/]*$/

const satellite: Route = { path: LIBRARY, carries: 'library', read: readLibrary }

/**
 * The predecessor of Launch, discontinued in 2021. The account is the id of the property's library. Many customers
 * hosted the library themselves.
 */
export const adobeDtm: Decoder = {
  vendor: 'Adobe Dynamic Tag Management',
  source: 'https://experienceleague.adobe.com/en/docs/analytics/implementation/prepare/dtm',
  hosts: ['assets.adobedtm.com'],
  routes: [
    satellite,
    sideChannel(/\/(?:scripts\/satellite-|s-code-contents-|dil-contents-|mbox-contents-|visitor-contents-)[^/]*$/),
    { ...satellite, anyHost: true },
  ],
}

/** Reads a library load. Only `environment` reveals that a live page loads the staging library by mistake. */
function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const { account = null, environment = 'production' } = LIBRARY.exec(path)?.groups ?? {}
  return [{ event: '', account, kind: 'library', params: withEmbedded({ environment }, Object.entries(query)) }]
}
