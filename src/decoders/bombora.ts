import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

export const bombora: Decoder = {
  vendor: 'Bombora',
  source: 'https://bombora.com/customer-support/bombora-tag/',
  hosts: ['ml314.com'],
  routes: [
    // Requests with a return URL synchronise ids with other vendors.
    { ...sideChannel(/^\/utsync\.ashx$/), when: ({ query }) => 'return' in query },
    pixel(/^\/utsync\.ashx$/, { account: 'eid', event: () => 'page_view' }),
    scriptLoad(/^\/(?:tag\.aspx|taglw\.js)$/),
    // Ids for other vendors, and the visitor's profile.
    sideChannel(/^\/(?:\w+sync\.ashx|ud\.ashx|get)$/),
  ],
}
