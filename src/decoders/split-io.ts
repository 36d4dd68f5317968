import type { DecodedEvent, Decoder } from './decoder.ts'
import { type EmbeddedParam, MAX_ENTRIES, withEmbedded } from './embedded-params.ts'
import { readJsonObjects } from './json.ts'
import { objectsOf, type Params, scalarOrNull, scalarText } from './params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** https://github.com/splitio/javascript-commons (src/sync/submitters/types.ts) */
const IMPRESSION: Params = {
  k: 'keyName',
  t: 'treatment',
  m: 'time',
  c: 'changeNumber',
  r: 'label',
  b: 'bucketingKey',
}

/** Except in beacons, the SDK's key is in a header. */
export const splitIo: Decoder = {
  vendor: 'Split.io',
  source: 'https://help.split.io/hc/en-us/articles/360020448791-JavaScript-SDK',
  hosts: ['split.io'],
  routes: [
    { path: /^\/api\/(?:v\d\/)?events\/(?:bulk|beacon)$/, read: (request) => read(request, 'eventTypeId') },
    { path: /^\/api\/(?:v\d\/)?testImpressions\/(?:bulk|beacon)$/, read: (request) => read(request, null) },
    // Flag definitions, counts of sent data, and performance data.
    sideChannel(/^\/(?:api|sse|event-stream)\b/),
  ],
}

/**
 * A list, or `{entries: […], token}`. Entries without an event name are impressions. An impression records the
 * treatment that a flag returned.
 */
function* read({ body }: VendorRequest, key: string | null): Iterable<DecodedEvent> {
  for (const sent of readJsonObjects(body)) {
    const account = scalarOrNull(sent.token)
    for (const entry of sent.entries === undefined ? [sent] : objectsOf(sent.entries)) {
      if (key === null) yield { event: 'impression', account, params: withEmbedded(entry, impressionsOf(entry)) }
      else yield { event: scalarText(entry[key]), account, params: entry }
    }
  }
}

/**
 * Converts `{f, i: [{k, t, …}]}` to the names that the previous SDK uses: `{testName, keyImpressions: [{keyName,
 * treatment, …}]}`.
 */
function* impressionsOf(entry: Record<string, unknown>): Iterable<EmbeddedParam> {
  yield ['splitName', scalarText(entry.f ?? entry.testName)]
  for (const [index, impression] of objectsOf(entry.i).slice(0, MAX_ENTRIES).entries()) {
    for (const key in IMPRESSION) yield [`keyImpressions.${index}.${IMPRESSION[key]}`, scalarText(impression[key])]
  }
}
