import { inflateSync } from 'node:zlib'
import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { isJson, looksLike, readJsonObjects } from './json.ts'
import { objectOf, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const MAX_BYTES = 1024 * 1024

const EVENTS: Route = { path: /\/data\/(?:ptm|guide|poll)\.gif\/(?:v\d\/)?[\w-]+(?:\/events)?$/, read: readEvents }

/** The account is the API key, which is the last segment of the path. */
export const pendo: Decoder = {
  vendor: 'Pendo',
  source: 'https://support.pendo.io/hc/en-us/articles/360046272771-Developer-s-guide-to-installing-Pendo',
  hosts: ['pendo.io', 'pendo-io-static.storage.googleapis.com'],
  routes: [
    EVENTS,
    // Requests for guides, session replay, metadata, and errors in the vendor's own code.
    sideChannel(/^\/data\//),
    scriptLoad(/^\/agent\/static\/(?<account>[\w-]+)\/pendo\.js$/),
    // Requests to the customer's own host.
    {
      ...EVENTS,
      anyHost: true,
      mark: /[?&]jzb=|\n\{"events":"/,
      when: ({ search, body }) => search.includes('jzb=') || looksLike(body, '{"events":"'),
    },
    { ...scriptLoad(/\/agent\/static\/(?<account>[\w-]+)\/pendo\.js$/), anyHost: true },
  ],
}

/** Compressed JSON in the query, or in `{events: …}` if it is too long for the query. */
function* readEvents({ path, query, body }: VendorRequest): Iterable<DecodedEvent> {
  const account = /\.gif\/(?:v\d\/)?([\w-]+)/.exec(path)?.[1] ?? null
  const packed = query.jzb ?? (isJson(body) ? scalarText(readJsonObjects(body)[0]?.events) : '')
  if (packed === '') return
  for (const sent of readJsonObjects(inflate(packed))) {
    const name = sent.track_event_name ?? objectOf(sent.props).track_event_name
    yield { event: scalarText(name) || scalarText(sent.type), account, params: sent }
  }
}

function inflate(packed: string): string {
  try {
    return inflateSync(Buffer.from(packed, 'base64url'), { maxOutputLength: MAX_BYTES }).toString()
  } catch (error) {
    if (error instanceof Error) throw new Error('the data cannot be decompressed')
    throw error
  }
}
