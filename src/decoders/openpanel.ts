import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Start of a call from the SDK. A shop's own `/track` may also accept a type and a payload, but the SDK's track calls
 * include the page.
 */
const OWN_CALL =
  /^\{"type":"(?:track","payload":\{(?=.*"__(?:path|referrer|title)":)|(?:identify|alias|increment|decrement)","payload":\{"(?:profileId|alias)")/s

/** The client id is in a header, so the account is unknown. */
export const openpanel: Decoder = {
  vendor: 'OpenPanel',
  source: 'https://openpanel.dev/docs/api/track',
  hosts: ['openpanel.dev'],
  routes: [
    { path: /^\/(?:api\/)?track\/?$/, read: readCall },
    sideChannel(/^\/(?:api\/)?track\/\w+/),
    scriptLoad(/^\/op1[\w.-]*\.js$/),
    // Requests to a self-hosted server or through a proxy.
    {
      path: /\/track\/?$/,
      anyHost: true,
      mark: /^.*\n\{"type":"(?:track","payload":\{(?=[\s\S]*"__(?:path|referrer|title)":)|(?:identify|alias|increment|decrement)","payload":\{"(?:profileId|alias)")/,
      when: ({ body }) => OWN_CALL.test(body ?? ''),
      read: readCall,
    },
    { ...scriptLoad(/\/op1\.js$/), anyHost: true },
  ],
}

/** `{type, payload}`. Only `track` calls have event names. Parts of a session replay are not events. */
function readCall({ json }: VendorRequest): DecodedEvent[] {
  const type = scalarText(json.type)
  if (type === 'replay') return []
  const name = scalarText(objectOf(json.payload).name)
  return [{ event: type === 'track' ? name : type, account: null, params: json }]
}
