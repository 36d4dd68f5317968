import type { Route } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'

/**
 * Returns a route for the library of one type of destination, which is recognised by the prefix of its ids. The
 * customer's own host may serve the library: https://developers.google.com/tag-platform/gtagjs
 */
export function googleTag(ids: RegExp): Route {
  return {
    ...scriptLoad(/\/gtag\/(?:js|destination)$/, 'id'),
    anyHost: true,
    mark: new RegExp(`[?&]id=${ids.source.slice(1)}`),
    when: ({ query }) => ids.test(query.id ?? ''),
  }
}
