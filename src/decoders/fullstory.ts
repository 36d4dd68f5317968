import type { Decoder, Route } from './decoder.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const PAGE: Route = jsonEvent(/\/rec\/page$/, { account: 'OrgId', event: () => 'page' })
const RECORDED = sideChannel(/\/rec\/(?:v2\/)?bundle(?:\/v2)?$/)

/** Custom events from pages are part of the recording. Custom events from servers have a separate URL. */
export const fullstory: Decoder = {
  vendor: 'FullStory',
  source: 'https://developer.fullstory.com/browser/getting-started/',
  hosts: ['fullstory.com'],
  routes: [
    PAGE,
    { path: /^\/v2(?:beta)?\/events$/, read: readServerEvent },
    RECORDED,
    sideChannel(/^\/rec\//),
    scriptLoad(/^\/s\/settings\/(?<account>[\w-]+)\/v\d+\//),
    scriptLoad(/^\/s\/fs[\w.-]*\.js$/),
    // Requests through a relay on the customer's own host.
    { ...PAGE, anyHost: true, mark: /"OrgId"/, when: ({ body }) => body?.includes('"OrgId"') ?? false },
    { ...RECORDED, anyHost: true, when: ({ query }) => 'OrgId' in query && 'SessionId' in query },
  ],
}

/** https://developer.fullstory.com/server/events/create-events/. The account key is in a header. */
function readServerEvent({ json }: VendorRequest) {
  const user = objectOf(json.user)
  return [{ event: scalarText(json.name), account: null, params: { ...json, uid: scalarOrNull(user.uid) } }]
}
