import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** Now Microsoft Invest. Has the universal pixel, and older pixels for conversions and segments. */
export const xandr: Decoder = {
  vendor: 'Xandr',
  source: 'https://learn.microsoft.com/en-us/xandr/invest/universal-pixel',
  hosts: ['adnxs.com'],
  routes: [
    pixel(/^\/pixie(?:\/up)?$/, { account: 'pi', event: 'e' }),
    pixel(/^\/px$/, { account: 'id', event: () => 'conversion' }),
    // A segment, identified by its number or by a code that the member has chosen.
    { ...pixel(/^\/seg$/, { account: 'member_id', event: () => 'segment' }), when: ({ query }) => !query.add },
    pixel(/^\/seg$/, { account: 'add', event: () => 'segment' }),
    // Identity sync.
    sideChannel(/^\/(?:[gs]etuid(?:nb)?|mapuid|bounce)$/),
    scriptLoad(/^\/dmp\/up\/pixie\.js$/),
  ],
}
