import type { DecodedEvent, Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const TAG = /^\/(?<account>\d+)\/(?<event>pageInfo|conversionInfo|pixel)\/?$/

export const cjAffiliate: Decoder = {
  vendor: 'CJ Affiliate',
  source: 'https://developers.cj.com/docs/tracking-integration',
  hosts: ['emjcd.com', 'mczbf.com'],
  routes: [
    // `CID` is the enterprise; `TYPE` is the action that the enterprise pays for.
    pixel(/^\/u$/, { account: 'CID', event: () => 'conversion' }),
    { path: TAG, read: readTag },
    scriptLoad(/^\/tags\/(?<account>\d+)\/tag\.js$/),
  ],
}

function readTag({ path, fields }: VendorRequest): DecodedEvent[] {
  const { account = null, event = '' } = TAG.exec(path)?.groups ?? {}
  return [{ event, account, params: fields }]
}
