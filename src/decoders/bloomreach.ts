import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const BULK: Route = { path: /\/bulk\/?$/, read: readBulk }
const TRACK = jsonEvent(/\/track\/v2\/projects\/(?<account>[\w-]+)\/customers\/events$/, { event: 'event_type' })

/** Engagement (formerly Exponea), where the account is the project token, and Discovery, where it is the merchant. */
export const bloomreach: Decoder = {
  vendor: 'Bloomreach',
  source: 'https://documentation.bloomreach.com/discovery/docs/reference-introduction-to-pixel',
  hosts: ['exponea.com', 'brsrvr.com', 'brcdn.com', 'bloomreach.co'],
  routes: [
    // The type of a page view is `pageview`. Other hits have the type `event` and an action (`click-add`), which
    // belongs to a group (`cart`).
    pixel(/^\/pix\.gif$/, {
      account: 'acct_id',
      event: ({ type = '', etype = '', is_conversion }) => (is_conversion === '1' ? 'conversion' : etype || type),
    }),
    BULK,
    TRACK,
    scriptLoad(/^\/v1\/br-trk-(?<account>\d+)\.js$/),
    scriptLoad(/^\/js\/exponea[\w.-]*\.js$/),
    scriptLoad(/^\/webxp\/projects\/(?<account>[\w-]+)\//),
    // Requests for content to show.
    sideChannel(/^\/(?:campaigns|managed-tags|optimization)\//),
    // The customer's own host may also serve Engagement.
    {
      ...BULK,
      anyHost: true,
      mark: /^.*\n[\s\S]{0,2000}"name":\s*"(?:crm|customers)\//,
      when: ({ body }) => /"name":\s*"(?:crm|customers)\//.test(body?.slice(0, 2000) ?? ''),
    },
    { ...TRACK, anyHost: true },
  ],
}

/**
 * `{"commands": [{"name": "crm/events", "data": {"project_id", "type", "properties"}}]}`. Other commands update the
 * customer.
 */
function* readBulk({ json }: VendorRequest): Iterable<DecodedEvent> {
  for (const { name, data } of objectsOf(json.commands)) {
    const sent = objectOf(data)
    const type = scalarText(sent.type ?? sent.event_type)
    const account = scalarOrNull(sent.project_id ?? objectOf(sent.company_id).id ?? sent.company_id)
    yield { event: type || scalarText(name), account, params: sent }
  }
}
