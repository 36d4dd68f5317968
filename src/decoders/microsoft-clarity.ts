import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Entry types: https://github.com/microsoft/clarity/blob/master/packages/clarity-js/types/data.d.ts */
const CUSTOM = 24
const VARIABLE = 34

/** Names of the first entries of an upload, in order. */
const ENVELOPE = ['version', 'sequence', 'start', 'duration', 'projectId', 'userId', 'sessionId', 'pageNum'] as const

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://github.com/microsoft/clarity',
    meanings: {
      version: ['code', 'Version of the library'],
      sequence: ['number', 'Number of the upload on this page'],
      start: ['time', 'Start of the upload, in milliseconds since Clarity started on the page'],
      duration: ['duration', 'Time covered by the upload, in milliseconds'],
      projectId: ['identifier', 'ID of the project'],
      userId: ['identifier', 'Browser ID, from the cookie _clck'],
      sessionId: ['identifier', 'ID of the session'],
      pageNum: ['number', 'Number of the page in the session'],
      url: ['url', 'Address of the page'],
      'tags.*': [null, 'Custom tag, set by the site'],
      value: ['text', 'Value of the custom event'],
    },
  },
]

export const microsoftClarity: Decoder = {
  vendor: 'Microsoft Clarity',
  source: 'https://learn.microsoft.com/en-us/clarity/setup-and-installation/clarity-api',
  keys: KEYS,
  hosts: ['clarity.ms'],
  routes: [
    { path: /\/collect$/, read: readUpload },
    // Identity sync with other Microsoft services.
    sideChannel(/^\/c\.gif$/),
    scriptLoad(/^\/tag\/(?:uet\/)?(?<account>[^/]+)$/),
    scriptLoad(/\.js$/),
  ],
}

/**
 * Reads a part of a session recording: `{e: envelope, a: entries, p: playback}`. Yields one event for the part, with
 * the tags that the page set in it, and then the page's custom events. Recorded content is not stored. A capture may
 * lack compressed bodies.
 */
function* readUpload(request: VendorRequest): Iterable<DecodedEvent> {
  const { e, a } = request.body ? request.json : {}
  const envelope: unknown[] = Array.isArray(e) ? e : []
  const account = scalarOrNull(envelope[ENVELOPE.indexOf('projectId')])
  const shared = Object.fromEntries(ENVELOPE.map((key, index) => [key, envelope[index]]))
  const entries: unknown[] = Array.isArray(a) ? a : []
  yield { event: 'upload', account, params: { ...shared, url: envelope[11], tags: readTags(entries) } }
  for (const [, , name, value] of entriesOf(entries, CUSTOM)) {
    yield { event: scalarText(name), account, params: { ...shared, url: envelope[11], value } }
  }
}

/** `[time, kind, …]` */
function entriesOf(entries: unknown[], kind: number): unknown[][] {
  return entries.filter((entry) => Array.isArray(entry)).filter((entry) => entry[1] === kind)
}

/** `[time, kind, name, value, name, value, …]`. A tag may have several values. */
function readTags(entries: unknown[]): Record<string, unknown> {
  const tags: Record<string, unknown> = {}
  for (const [, , ...pairs] of entriesOf(entries, VARIABLE)) {
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      const value = pairs[index + 1]
      tags[scalarText(pairs[index])] = Array.isArray(value) ? value.map(scalarText).join(',') : value
    }
  }
  return tags
}
