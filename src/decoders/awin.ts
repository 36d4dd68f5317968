import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route.ts'

/** `tt` says how a sale came: `ns` without a script, `js`, `ss` from a server. Awin counts the same `ref` once. */
export const awin: Decoder = {
  vendor: 'Awin',
  source: 'https://wiki.awin.com/index.php/Advertiser_Tracking_Guide/Standard_Implementation',
  hosts: ['awin1.com', 'zenaps.com', 'dwin1.com', 'dwin2.com'],
  routes: [
    pixel(/^\/sread\.(?:img|js|php|pl)$/, { account: 'merchant', event: () => 'sale' }),
    scriptLoad(/^\/(?<account>\d+)\.js$/),
  ],
}
