import type { DecodedEvent, Decoder } from './decoder.ts'
import { withNamed } from './named.ts'
import type { VendorRequest } from './request.ts'
import { sideChannel } from './route.ts'

const LIBRARY = /\/launch-(?<account>[0-9A-Za-z]+)(?:-(?<environment>\w+))?(?:\.min)?\.js$/

/** Elsewhere than at Adobe a script may have a name that begins so. */
const SELF_HOSTED = /\/launch-EN[0-9a-f]{32}(?:-\w+)?(?:\.min)?\.js$/

/** Now “Tags in Adobe Experience Platform”. The account is the environment, which has its own library. */
export const adobeLaunch: Decoder = {
  vendor: 'Adobe Launch',
  source: 'https://experienceleague.adobe.com/en/docs/experience-platform/tags/publish/environments/environments',
  // The second is for China.
  hosts: ['assets.adobedtm.com', 'assets.adoberesources.cn'],
  routes: [
    { path: LIBRARY, carries: 'library', read: readLibrary },
    // https://experienceleague.adobe.com/en/docs/experience-platform/tags/publish/hosts/self-hosting-libraries
    { path: SELF_HOSTED, anyHost: true, carries: 'library', read: readLibrary },
    // Parts that the library fetches when a rule needs them.
    sideChannel(/\.js$/),
  ],
}

/** A page of the shop that loads the library of staging is a mistake that only `environment` shows. */
function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const { account = null, environment = 'production' } = LIBRARY.exec(path)?.groups ?? {}
  return [{ event: '', account, kind: 'library', params: withNamed({ environment }, Object.entries(query)) }]
}
