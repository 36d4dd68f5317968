import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { readRison } from './rison.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const TRACK = /^\/trk\/\d\/s\/(?<account>a-[0-9a-f]+\/[\w-]+\/[\w.-]+)\//

/** Entries that only request data. */
const ASKS = /^(?:g[a-z]|monetate:decision:.*)$/

/** https://docs.monetate.com/docs/engine-api-overview. The account is the channel, `a-1f2e/p/shop.example`. */
export const monetate: Decoder = {
  vendor: 'Monetate',
  source: 'https://docs.monetate.com/docs/engine-api-overview',
  hosts: ['monetate.net'],
  routes: [
    { path: TRACK, read: readTrack },
    { path: /^\/api\/engine\/v\d\/decide\//, read: readDecide },
    sideChannel(/^\/trk\//),
    scriptLoad(/^\/js\/\d\/(?<account>a-[0-9a-f]+\/[\w-]+\/[\w.-]+)\//),
  ],
}

/** Values are in Rison. `e=!(viewPage,gt)` contains the list of events. */
function* readTrack({ path, query }: VendorRequest): Iterable<DecodedEvent> {
  const account = scalarOrNull(TRACK.exec(path)?.groups?.account)
  const params: Record<string, unknown> = {}
  for (const key in query) params[key] = readRison(query[key] ?? '') ?? query[key]
  const names = Array.isArray(params.e) ? params.e.map(scalarText) : []
  for (const event of names) if (!ASKS.test(event)) yield { event, account, params }
}

function* readDecide({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = json
  const shared = sharedOf(rest)
  for (const event of objectsOf(events)) {
    const name = scalarText(event.eventType)
    if (!ASKS.test(name)) yield { event: name, account: scalarOrNull(json.channel), params: { ...shared, ...event } }
  }
}
