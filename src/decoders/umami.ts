import type { DecodedEvent, Decoder } from './decoder.ts'
import { readJsonObjects } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Start of the body of a call to any host. The website must be a UUID, because with any other value the body could come
 * from one of the site's own forms.
 */
const CALL = /^\{"type":"\w+","payload":\{"website":"[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}"/

/** Usually self-hosted. The path can be configured, so calls are recognised by their body. */
export const umami: Decoder = {
  vendor: 'Umami',
  source: 'https://umami.is/docs/api/sending-stats',
  hosts: ['umami.is', 'umami.dev'],
  routes: [
    { path: /^\/api\/(?:send|collect|batch)\/?$/, read: readCalls },
    scriptLoad(/^\/(?:script|umami|recorder)\.js$/),
    {
      path: /^/,
      anyHost: true,
      mark: new RegExp(`^.*\\n${CALL.source.slice(1)}`),
      when: ({ body }) => body !== null && CALL.test(body),
      read: readCalls,
    },
    { ...scriptLoad(/\/umami\.js$/), anyHost: true },
  ],
}

/** `{type: 'event', payload: {website, name?}}`. A call without a name is a page view. */
function* readCalls({ body }: VendorRequest): Iterable<DecodedEvent> {
  for (const call of readJsonObjects(body)) {
    const { website, name, event_name } = objectOf(call.payload)
    const type = scalarText(call.type)
    const event = scalarText(name) || scalarText(event_name) || (type === 'event' ? 'pageview' : type)
    yield { event, account: scalarOrNull(website), params: call }
  }
}
