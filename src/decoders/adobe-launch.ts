import type { DecodedEvent, Decoder } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const LIBRARY = /\/launch-(?<account>[0-9A-Za-z]+)(?:-(?<environment>\w+))?(?:\.min)?\.js$/

/**
 * Path of a self-hosted library. On other hosts than Adobe's, any script name might begin with `launch-`, so the whole
 * name is checked.
 */
const SELF_HOSTED = /\/launch-EN[0-9a-f]{32}(?:-\w+)?(?:\.min)?\.js$/

/**
 * Now “Tags in Adobe Experience Platform”. The account is the environment, because each environment has its own
 * library.
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
    // Modules that the library loads when a rule needs them.
    sideChannel(/\.js$/),
  ],
}

/**
 * Reads a library load. A live page that loads the staging library by mistake can only be detected by `environment`.
 */
function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const { account = null, environment = 'production' } = LIBRARY.exec(path)?.groups ?? {}
  return [{ event: '', account, kind: 'library', params: withEmbedded({ environment }, Object.entries(query)) }]
}
