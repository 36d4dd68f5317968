import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const heap: Decoder = {
  vendor: 'Heap',
  source: 'https://developers.heap.io/reference/track-1',
  hosts: ['heapanalytics.com', 'heap-api.com'],
  routes: [
    { path: /^\/h$/, read: readPixel },
    pixel(/^\/api\/(?:identify(?:_v\d)?|add_(?:user_|event_)?properties(?:_v\d)?)$/, {
      account: 'a',
      event: () => 'identify',
    }),
    { path: /^\/api\/(?:v\d\/)?(?:track|bulk_track)$/, read: readTrack },
    // Binary data in an unpublished format.
    sideChannel(/^\/api\/(?:capture|integrations|session_replay|telemetry)\b/),
    scriptLoad(/^\/js\/heap-(?<account>\d+)\.js$/),
    scriptLoad(/^\/config\/(?<account>\d+)\/heap_config\.js$/),
    scriptLoad(/\/heap(?:\.min)?\.js$/),
  ],
}

/** Yields a page view, or the user's actions on the page, which are numbered: `t0=click&n0=button&x0=Buy&t1=change`. */
function* readPixel({ fields }: VendorRequest): Iterable<DecodedEvent> {
  const account = scalarOrNull(fields.a)
  const names = Object.keys(fields).filter((key) => /^t\d+$/.test(key))
  for (const key of names) yield { event: fields[key] ?? '', account, params: fields }
  if (names.length === 0) yield { event: 'pageview', account, params: fields }
}

/** The server API: one event, or `{app_id, events: [event, …]}` */
function* readTrack({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = json
  const account = scalarOrNull(rest.app_id)
  for (const event of events === undefined ? [rest] : objectsOf(events)) {
    yield { event: scalarText(event.event), account, params: event }
  }
}
