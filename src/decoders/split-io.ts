import type { DecodedEvent, Decoder } from './decoder.ts'
import { readJsonObjects } from './json.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { sideChannel } from './route.ts'

/** The SDK's key is in a header, except for beacons. */
export const splitIo: Decoder = {
  vendor: 'Split.io',
  source: 'https://help.split.io/hc/en-us/articles/360020448791-JavaScript-SDK',
  hosts: ['split.io'],
  routes: [
    { path: /^\/api\/(?:v\d\/)?events\/(?:bulk|beacon)$/, read: (request) => read(request, 'eventTypeId') },
    { path: /^\/api\/(?:v\d\/)?testImpressions\/(?:bulk|beacon)$/, read: (request) => read(request, null) },
    // Definitions of flags, counts of what was sent, speed.
    sideChannel(/^\/(?:api|sse|event-stream)\b/),
  ],
}

/** A list, or `{entries: […], token}`. Without a key of the name they are impressions: which treatment a flag gave. */
function* read({ body }: VendorRequest, key: string | null): Iterable<DecodedEvent> {
  for (const sent of readJsonObjects(body)) {
    const account = scalarOrNull(sent.token)
    for (const entry of sent.entries === undefined ? [sent] : objectsOf(sent.entries)) {
      yield { event: key === null ? 'impression' : scalarText(entry[key]), account, params: entry }
    }
  }
}
