import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad } from './route-builders.ts'

/** For a library, the account consists of the network and the tag. For a call, it is the network. */
export const invoca: Decoder = {
  vendor: 'Invoca',
  source: 'https://developers.invoca.net/en/latest/api_documentation/pnapi/index.html',
  hosts: ['invocacdn.com', 'pnapi.invoca.net'],
  routes: [
    // Requests the phone number that a visitor will see, and sends all known data about the visitor.
    jsonEvent(/^\/(?<account>\d+)\/(?:na|allocate_number)\.jsonp?$/, { event: () => 'allocate_number' }),
    jsonEvent(/^\/api\/[\d-]+\/(?:bulk|(?<account>\d+)\/allocate_number)\.json$/, { event: () => 'allocate_number' }),
    scriptLoad(/^\/js\/networks\/(?<account>\d+\/\d+)\/tag-(?:draft|live)\.js$/),
    scriptLoad(/^\/js\/[\w./-]+\.js$/),
  ],
}
