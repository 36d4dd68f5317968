import type { Decoder } from './decoder.ts'
import { type EmbeddedParam, insideJson } from './embedded-params.ts'
import type { Params } from './params.ts'
import { jsonEvent, pixel, scriptLoad, sideChannel } from './route-builders.ts'

export const sixSense: Decoder = {
  vendor: '6sense',
  source: 'https://support.6sense.com/docs/webtag-implementation-guide',
  hosts: ['6sc.co', '6sense.com'],
  routes: [
    pixel(/^\/v1\/beacon\/img\.gif$/, { account: 'token', event: 'event', named: namedIn }),
    // Requests data on the visitor's company. The account key is in a header.
    jsonEvent(/^\/v\d\/company\/details$/, { event: () => 'company_details' }),
    scriptLoad(/^\/j\/(?<account>[\w-]+)\.js$/),
    scriptLoad(/^\/6si(?:\.min)?\.js$/),
    // Requests the visitor's id.
    { ...sideChannel(/^\/$/), when: ({ host }) => /^(?:c|ipv6)\.6sc\.co$/.test(host) },
  ],
}

/** JSON parameters: a description of the page (`m`), its topic (`q`), and ids used by other vendors. */
function namedIn(fields: Params): EmbeddedParam[] {
  return ['m', 'q', 'thirdParty'].flatMap((key) => insideJson(fields, key))
}
