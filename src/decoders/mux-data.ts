import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, looksLike } from './json.ts'
import { objectsOf, readJsonObject, scalarOrNull, scalarText } from './params.ts'
import { pixel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Video events. The SDK abbreviates all keys: `e` is the event, and `ake` is the environment key, which is the account.
 */
export const muxData: Decoder = {
  vendor: 'Mux Data',
  source: 'https://www.npmjs.com/package/mux-embed',
  hosts: ['litix.io'],
  routes: [
    pixel(/^\/a\.gif$/, { account: 'ake', event: 'e' }),
    { path: /^\/(?:a\.gif)?$/, read: readEvents },
    {
      path: /^\/(?:a\.gif)?$/,
      anyHost: true,
      mark: /^.*\n\{"events":\[[\s\S]*"ake":"/,
      when: ({ body }) => looksLike(body, '{"events":[', '"ake":"'),
      read: readEvents,
    },
  ],
}

function* readEvents({ host, body }: VendorRequest): Iterable<DecodedEvent> {
  if (!isJson(body)) return
  const { events } = readJsonObject(body)
  const fallback = /^([^.]+)\.litix\.io$/.exec(host)?.[1]
  for (const event of objectsOf(events)) {
    yield { event: scalarText(event.e), account: scalarOrNull(event.ake ?? fallback), params: event }
  }
}
