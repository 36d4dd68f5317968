import type { DecodedEvent, Decoder } from './decoder.ts'
import { looksLike, readJsonObjects } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad } from './route.ts'

/** Mostly on a server of one's own, where the path can be chosen too; told by the body. */
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
      mark: /^.*\n\{"type":"[\s\S]*"payload":\{"website":"/,
      when: ({ body }) => looksLike(body, '{"type":"', '"payload":{"website":"'),
      read: readCalls,
    },
    { ...scriptLoad(/\/umami\.js$/), anyHost: true },
  ],
}

/** `{type: 'event', payload: {website, name?}}`; what has no name is a page view. */
function* readCalls({ body }: VendorRequest): Iterable<DecodedEvent> {
  for (const call of readJsonObjects(body)) {
    const { website, name, event_name } = objectOf(call.payload)
    const type = scalarText(call.type)
    const event = scalarText(name) || scalarText(event_name) || (type === 'event' ? 'pageview' : type)
    yield { event, account: scalarOrNull(website), params: call }
  }
}
