import type { DecodedEvent, Decoder } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const LIBRARY = /\/launch-(?<account>[0-9A-Za-z]+)(?:-(?<environment>\w+))?(?:\.min)?\.js$/

/**
 * Path of a self-hosted library. On hosts other than Adobe's, unrelated scripts may have names that begin with
 * `launch-`, so the whole name is checked.
 */
const SELF_HOSTED = /\/launch-EN[0-9a-f]{32}(?:-\w+)?(?:\.min)?\.js$/

/**
 * Now called “Tags in Adobe Experience Platform”. The account is the id of the environment, because each environment
 * has a separate library.
 */
export const adobeLaunch: Decoder = {
  vendor: 'Adobe Launch',
  source: 'https://experienceleague.adobe.com/en/docs/experience-platform/tags/publish/environments/environments',
  // The second host is for China.
  hosts: ['assets.adobedtm.com', 'assets.adoberesources.cn'],
  routes: [
    { path: LIBRARY, carries: 'library', read: readLibrary },
    // https://experienceleague.adobe.com/en/docs/experience-platform/tags/publish/hosts/self-hosting-libraries
    { path: SELF_HOSTED, anyHost: true, carries: 'library', read: readLibrary },
    // Modules that the library loads when a rule requires them.
    sideChannel(/\.js$/),
  ],
}

/** Reads a library load. Only `environment` reveals that a live page loads the staging library by mistake. */
function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const { account = null, environment = 'production' } = LIBRARY.exec(path)?.groups ?? {}
  return [{ event: '', account, kind: 'library', params: withEmbedded({ environment }, Object.entries(query)) }]
}
