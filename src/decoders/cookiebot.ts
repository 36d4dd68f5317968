import type { DecodedEvent, Decoder } from './decoder.ts'
import { type Params, scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Parameters of a consent record for the kinds of cookies that a visitor can reject. */
const KINDS: Params = { clp: 'preferences', cls: 'statistics', clm: 'marketing' }

export const cookiebot: Decoder = {
  vendor: 'Cookiebot',
  source: 'https://www.cookiebot.com/en/developer/',
  hosts: ['cookiebot.com', 'cookiebot.eu'],
  routes: [
    { path: /^\/logconsent\.ashx$/, read: readRecord },
    scriptLoad(/^\/uc\.js$/, 'cbid'),
    scriptLoad(/^\/(?:consentconfig\/)?(?<account>[0-9a-f]{8}-[0-9a-f-]{27})\/[\w./-]+\.(?:js|html)$/),
    // Page views counted for billing, and choices stored for all domains.
    sideChannel(/^\/(?:1\.gif|sdk\/)/),
  ],
}

/** Reads the visitor's overall choice, `accept` or `decline`, and the choice for each kind of cookie. */
function readRecord({ query }: VendorRequest): DecodedEvent[] {
  const params: Params = { ...query }
  for (const key in KINDS) {
    if (key in query) params[`consent.${KINDS[key]}`] = query[key] === 'true' ? 'granted' : 'denied'
  }
  return [{ event: query.action ?? '', account: scalarOrNull(query.cbid), params }]
}
