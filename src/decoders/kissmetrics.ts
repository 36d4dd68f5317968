import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'

/** `/e` records an event, `/s` sets a person's properties, `/a` merges two people. */
export const kissmetrics: Decoder = {
  vendor: 'Kissmetrics',
  source: 'https://support.kissmetrics.io/',
  hosts: ['kissmetrics.com', 'kissmetrics.io', 'doug1izaerwt3.cloudfront.net'],
  routes: [
    pixel(/^\/e$/, { account: '_k', event: '_n' }),
    pixel(/^\/s$/, { account: '_k', event: () => 'set' }),
    pixel(/^\/a$/, { account: '_k', event: () => 'alias' }),
    scriptLoad(/^\/(?<account>[\da-f]{40})\.\d\.js$/),
    scriptLoad(/^\/(?:i|t)\.js$/),
  ],
}
