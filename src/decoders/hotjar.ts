import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'

/** Recordings are sent to other hosts, compressed or through a WebSocket, and have no event names. */
export const hotjar: Decoder = {
  vendor: 'Hotjar',
  source: 'https://help.hotjar.com/hc/en-us/articles/115011640307-Content-Security-Policies',
  hosts: ['hotjar.com', 'hotjar.io', 'hj.contentsquare.net'],
  routes: [
    scriptLoad(/^\/c\/hotjar-(?<account>\d+)\.js$/),
    { ...scriptLoad(/\.js$|^\/(?:box|rcj)-[\w-]+\.html$/), when: ({ host }) => /^(?:script|vars)\./.test(host) },
    // Calls are named after the last segment of their path, such as `visit-data`, which is sent once per page.
    jsonEvent(/^\/api\/v\d+\/(?:client\/)?sites\/(?<account>\d+)\/(?:[\w-]+\/)*(?<event>[\w-]+)\/?$/),
    jsonEvent(/^\/sessions\/(?<account>\d+)$/, { event: () => 'session' }),
    { ...sideChannel(/^\//), when: ({ host }) => /^(?:content|metrics|surveystats|vc|ws\w*)\./.test(host) },
  ],
}
