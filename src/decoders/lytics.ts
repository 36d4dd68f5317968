import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, readJsonObjects } from './json.ts'
import { scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const lytics: Decoder = {
  vendor: 'Lytics',
  source: 'https://docs.lytics.com/',
  hosts: ['c.lytics.io', 'api.lytics.io'],
  routes: [
    // Visitor data from partners.
    sideChannel(
      /^\/c\/(?:provider\/|$)|^\/(?:cid|api\/me|api\/content|api\/personalize|api\/program|api\/experience)\b/,
    ),
    { path: /^\/c\/[^/]+(?:\/[\w.-]+)?\/?$/, read: readData },
    { path: /^\/collect\/(?:json\/)?[\w.-]+\/?$/, read: readData },
    scriptLoad(/^\/api\/tag\/(?<account>\w+)\/.*\.js$/),
    scriptLoad(/^\/static\/\w+(?:\.min)?\.js$/),
  ],
}

/**
 * `/c/<account>/<stream>`. `_e` is the event name (`pv` for a page view). If it is missing, the name is that of the
 * stream.
 */
function* readData({ path, query, body, fields }: VendorRequest): Iterable<DecodedEvent> {
  const parts = path.split('/').filter(Boolean)
  const isCollect = parts[0] === 'collect'
  const stream = (isCollect ? parts.at(-1) : parts[2]) ?? 'default'
  const account = isCollect ? null : (parts[1] ?? null)
  for (const sent of isJson(body) ? readJsonObjects(body) : [fields]) {
    yield { event: scalarText(sent._e) || stream, account, params: { ...query, ...sent } }
  }
}
