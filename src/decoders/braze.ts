import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const DATA: Route = { path: /^\/api\/v3\/data\/?$/, read: readData }

/**
 * The protocol of the SDK is not documented. The server API is documented at
 * https://www.braze.com/docs/api/endpoints/user_data/post_user_track/
 */
export const braze: Decoder = {
  vendor: 'Braze',
  source: 'https://www.braze.com/docs/developer_guide/sdk_integration/',
  hosts: ['braze.com', 'braze.eu', 'appboy.com', 'appboy.eu', 'appboycdn.com'],
  routes: [
    DATA,
    { path: /^\/users\/track$/, read: readServerCall },
    // Requests for messages, cards and flags.
    sideChannel(/^\/api\/v3\//),
    { ...scriptLoad(/\.js$/), when: ({ host }) => host === 'js.appboycdn.com' },
    { ...DATA, anyHost: true, mark: /"sdk_version"/, when: ({ body }) => body?.includes('"sdk_version"') ?? false },
  ],
}

/**
 * `{"api_key": …, "events": [{"name": "ss", "data": {…}}]}`. Names are abbreviations that the SDK uses (`ss` for a
 * session start, `p` for a purchase). The name of a custom event (`ce`) is in `data.n`.
 */
function* readData({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { events, respond_with, ...rest } = json
  const shared = sharedOf(rest)
  const account = scalarOrNull(json.api_key)
  for (const event of objectsOf(events)) {
    const name = scalarText(event.name)
    const own = name === 'ce' ? scalarText(objectOf(event.data).n) : ''
    yield { event: own || name, account, params: { ...shared, ...event } }
  }
}

/** The account key is in a header. */
function* readServerCall({ json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(json.events)) yield { event: scalarText(event.name), account: null, params: event }
  for (const purchase of objectsOf(json.purchases)) yield { event: 'purchase', account: null, params: purchase }
}
