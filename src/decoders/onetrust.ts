import type { DecodedEvent, Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const MAX_TOKEN_LENGTH = 8000

/** For a script, the account is the domain's data id. For a receipt, it is the collection point. */
export const onetrust: Decoder = {
  vendor: 'OneTrust',
  source: 'https://developer.onetrust.com/onetrust/reference/createconsentreceiptusingpost',
  hosts: ['cookielaw.org', 'cookiepro.com', 'onetrust.com'],
  routes: [
    { path: /^\/request\/v\d\/consentreceipts(?:\/anonymous)?$/, read: readReceipt },
    scriptLoad(/^\/(?:consent|langswitch)\/(?<account>[0-9a-f-]{36})(?:-test)?(?:\.js|\/)/),
    scriptLoad(/^\/scripttemplates\//),
    // The visitor's country, and the banner's appearance.
    sideChannel(/^\/cookieconsentpub\/|^\/(?:logos|skins)\//),
  ],
}

/** Reads a receipt. It begins with a long signed token, from which only the collection point is used. */
function readReceipt({ json }: VendorRequest): DecodedEvent[] {
  const { requestInformation, ...receipt } = json
  return [{ event: 'consent_receipt', account: collectionPoint(scalarText(requestInformation)), params: receipt }]
}

/**
 * Returns the collection point from a JSON Web Token: https://www.rfc-editor.org/rfc/rfc7519. The signature is not
 * verified.
 */
function collectionPoint(token: string): string | null {
  const claims = token.slice(0, MAX_TOKEN_LENGTH).split('.', 2)[1] ?? ''
  return scalarOrNull(objectOf(unfolded(Buffer.from(claims, 'base64url').toString())).processId)
}
