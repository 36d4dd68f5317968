import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson } from './json.ts'
import { objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const rtbHouse: Decoder = {
  vendor: 'RTB House',
  source: 'https://docs.rtbhouse.com/tagging/',
  hosts: ['creativecdn.com'],
  routes: [
    { path: /^\/tags(?:\/v2)?\/?$/, read: readTags },
    scriptLoad(/^\/(?:tags\/)?(?<account>\w+)\.js$/),
    sideChannel(/^\/(?:cm-notify|adx\/cm|cm|ig-membership|topics|fledge)\b/),
  ],
}

/**
 * `{th, tags: [{eventType, …}]}`, or in the old format `id=pr_<account>_<event>_<item>`, possibly repeated. The
 * visitor's id is sent in the same format but is not an event.
 */
function* readTags(request: VendorRequest): Iterable<DecodedEvent> {
  const { body, query } = request
  if (isJson(body)) {
    const { th, tags, ...rest } = request.json
    const shared = sharedOf(rest)
    for (const { eventType, ...tag } of objectsOf(tags)) {
      if (eventType === 'uid') continue
      yield { event: scalarText(eventType), account: scalarOrNull(th), params: { ...shared, ...tag } }
    }
    return
  }
  for (const key in query) {
    if (!/^id(?:\.\d+)?$/.test(key)) continue
    const [, account, event, what] = /^(?:pr_)?([^_]+)_([a-z0-9]+)(?:_(.*))?$/.exec(query[key] ?? '') ?? []
    if (event && event !== 'uid') yield { event, account: scalarOrNull(account), params: { ...query, what } }
  }
}
