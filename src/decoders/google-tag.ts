import type { Route } from './decoder.ts'
import { scriptLoad } from './route.ts'

/**
 * The library for destinations of one kind, told by how their ids begin; it may come from the customer's own host:
 * https://developers.google.com/tag-platform/gtagjs
 */
export function googleTag(ids: RegExp): Route {
  return {
    ...scriptLoad(/\/gtag\/(?:js|destination)$/, 'id'),
    anyHost: true,
    mark: new RegExp(`[?&]id=${ids.source.slice(1)}`),
    when: ({ query }) => ids.test(query.id ?? ''),
  }
}
