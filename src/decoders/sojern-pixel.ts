import type { Decoder } from './decoder.ts'
import type { Params } from './params.ts'
import { pixel, sideChannel } from './route-builders.ts'

export const sojernPixel: Decoder = {
  vendor: 'Sojern Pixel',
  source: 'https://www.sojern.com/pixel-privacy',
  hosts: ['beacon.sojern.com', 'pixel.sojern.com'],
  routes: [
    // `et` is a code: hs for a hotel search, hpr for a hotel's product page, hc for a booking, etc. Newer tags send a
    // word in `pt` instead.
    pixel(/^\/(?:pixel\/)?(?:p|img|cp|tracking)\/(?<account>\d+)\/?$/, { event: nameOf }),
    pixel(/^\/(?:pixel\/)?(?:p|img|cp|tracking)\/?$/, { account: 'pixelId', event: nameOf }),
    sideChannel(/^\/(?:idSync|partner|cid)\b/i),
  ],
}

function nameOf({ pt, et }: Params): string {
  return pt || et || 'pixel'
}
