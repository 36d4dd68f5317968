import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** Recordings (pointer, replay, errors) have no event names. The account is the project. */
export const contentsquare: Decoder = {
  vendor: 'Contentsquare',
  source: 'https://docs.contentsquare.com/en/web/',
  hosts: ['contentsquare.net'],
  routes: [
    pixel(/^\/pageview$/, { account: 'pid', event: () => 'pageview' }),
    pixel(/^\/transaction$/, { account: 'pid', event: () => 'transaction' }),
    pixel(/^\/dvar$/, { account: 'pid', event: () => 'dvar' }),
    // The name of a custom event is in `value`.
    pixel(/^\/pageEvent$/, { account: 'pid', event: 'value' }),
    scriptLoad(/^\/uxa\/(?<account>[\w-]+)\.js$/),
    scriptLoad(/^\/uxa\/.*\.js$/),
    sideChannel(/^\//),
  ],
}
