import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route.ts'

export const bombora: Decoder = {
  vendor: 'Bombora',
  source: 'https://bombora.com/customer-support/bombora-tag/',
  hosts: ['ml314.com'],
  routes: [
    // With an address to return to, ids are synchronised.
    { ...sideChannel(/^\/utsync\.ashx$/), when: ({ query }) => 'return' in query },
    pixel(/^\/utsync\.ashx$/, { account: 'eid', event: () => 'page_view' }),
    scriptLoad(/^\/(?:tag\.aspx|taglw\.js)$/),
    // Ids for other vendors, and what is known of the visitor.
    sideChannel(/^\/(?:\w+sync\.ashx|ud\.ashx|get)$/),
  ],
}
