import type { DecodedEvent, Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { type Params, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'

const ADSCT = /^\/(?:1\/)?i\/adsctp?\/?$/

/** Formerly Twitter. Each event is sent to two hosts. The request to `t.co` is the copy. */
export const xPixel: Decoder = {
  vendor: 'X Pixel',
  source: 'https://business.x.com/en/help/campaign-measurement-and-analytics/conversion-tracking-for-websites',
  hosts: [
    'analytics.twitter.com',
    'analytics.x.com',
    't.co',
    'static.ads-twitter.com',
    'ads-api.x.com',
    'ads-api.twitter.com',
  ],
  routes: [
    // A request without a pixel id only synchronises ids.
    { ...sideChannel(ADSCT), when: ({ host, fields }) => host === 't.co' || !('txn_id' in fields) },
    { path: ADSCT, read: ({ fields }) => readEvents(fields) },
    // https://docs.x.com/x-ads-api/measurement/web-conversions
    serverEvents(/^\/\d+\/measurement\/conversions\/(?<account>[^/]+)\/?$/, { list: 'conversions', event: 'event_id' }),
    scriptLoad(/^\/(?:uwt|oct)\.js$/),
  ],
}

/**
 * Events have names in `events` (`[["pageview", {…}]]`), or were created in Events Manager and are named after their
 * id: `txn_id=tw-<pixel>-<event>`. When the tag is configured, it sends a request that contains only the pixel id.
 */
function* readEvents(fields: Params): Iterable<DecodedEvent> {
  const { txn_id = '' } = fields
  const account = scalarOrNull(/^tw-([^-]+)-/.exec(txn_id)?.[1] ?? txn_id)
  const params = { ...fields, event: unfolded(fields.event) }
  const events = unfolded(fields.events)
  if (!Array.isArray(events) || events.length === 0) {
    yield { event: txn_id.startsWith('tw-') ? txn_id : 'config', account, params }
    return
  }
  for (const entry of events) {
    const [name, values] = Array.isArray(entry) ? entry : [entry]
    yield { event: scalarText(name), account, params: { ...params, events: values ?? undefined } }
  }
}
