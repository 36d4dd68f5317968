import type { DecodedEvent, Decoder } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const ENGINE = /^\/(?:WRSiteInterceptEngine|SIE)\/$/

/** Website feedback. The account is the project (zone) or the intercept. */
export const qualtrics: Decoder = {
  vendor: 'Qualtrics',
  source:
    'https://www.qualtrics.com/support/website-app-feedback/getting-started-with-website-app-feedback/getting-started-with-website-feedback/',
  hosts: ['siteintercept.qualtrics.com'],
  routes: [
    { path: ENGINE, when: ({ query }) => 'Q_Impress' in query || 'Q_Click' in query, read: readReaction },
    { path: /\/Targeting\.php$/, read: readTargeting },
    { path: ENGINE, carries: 'library', when: ({ body }) => body === null, read: readLibrary },
    scriptLoad(/\.js$/),
    sideChannel(/^\//),
  ],
}

function accountOf({ Q_ZoneID, Q_ZID, Q_SIID, Q_InterceptID }: Record<string, string>): string | null {
  return scalarOrNull(Q_ZoneID ?? Q_ZID ?? Q_SIID ?? Q_InterceptID)
}

/** Reads a request sent when an intercept was shown or clicked. */
function readReaction({ query }: VendorRequest): DecodedEvent[] {
  return [{ event: 'Q_Click' in query ? 'click' : 'impression', account: accountOf(query), params: query }]
}

/** Reads a request that is sent on every page, for the intercepts that may be shown there. */
function readTargeting({ fields }: VendorRequest): DecodedEvent[] {
  return [{ event: 'targeting', account: accountOf(fields), params: fields }]
}

function readLibrary({ query }: VendorRequest): DecodedEvent[] {
  return [{ event: '', account: accountOf(query), kind: 'library', params: query }]
}
