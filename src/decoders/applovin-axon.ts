import type { Decoder } from './decoder.ts'
import { objectsIn, readJsonObjects } from './json.ts'
import { scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account is the event key. */
export const applovinAxon: Decoder = {
  vendor: 'AppLovin Axon',
  source: 'https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api',
  hosts: ['b.applovin.com', 'c.albss.com', 's.axon.ai'],
  routes: [
    { path: /^\/v\d\/(?:event|pixel)\/?$/, read: readEvents },
    // Reports on the vendor's own code.
    sideChannel(/^\/v\d\/log\/?$/),
    scriptLoad(/\.js$/),
  ],
}

/** `{events: [event, …]}`, or only the list. */
function* readEvents({ query, body }: VendorRequest) {
  if (body === null) return
  for (const { events, ...sent } of readJsonObjects(body)) {
    const shared = { ...query, ...(events === undefined ? {} : sharedOf(sent)) }
    for (const event of events === undefined ? [sent] : objectsIn(events)) {
      const account = scalarOrNull(query.pixel_id ?? query.event_key ?? sent.pixel_id ?? sent.event_key)
      yield { event: scalarText(event.name), account, params: { ...shared, ...event } }
    }
  }
}
