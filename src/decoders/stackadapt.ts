import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

export const stackAdapt: Decoder = {
  vendor: 'StackAdapt',
  source: 'https://docs.stackadapt.com/pixel-api',
  hosts: ['srv.stackadapt.com'],
  routes: [
    pixel(/^\/saq_pxl$/, {
      account: 'uid',
      event: ({ event_type, action }) => event_type || action || 'page_view',
    }),
    pixel(/^\/(?:conv|js_tracking)$/, { account: 'cid', event: () => 'conversion' }),
    pixel(/^\/rt$/, { account: 'sid', event: () => 'retargeting' }),
    scriptLoad(/^\/(?:events|\w*pxl?|sa)\.(?:js|jpeg)$/),
    sideChannel(/^\/sync$/),
  ],
}
