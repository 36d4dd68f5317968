import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'

export const teadsPixel: Decoder = {
  vendor: 'Teads Universal Pixel',
  source: 'https://support.teads.tv/support/solutions/articles/36000209100-teads-universal-pixel',
  hosts: ['t.teads.tv', 'cm.teads.tv', 'p.teads.tv'],
  routes: [
    // Requests to the same URL that contain no advertiser report on ads.
    {
      ...pixel(/^\/(?:track|page|v\d\/advertiser)\/?$/, {
        account: 'buyer_pixel_id',
        event: ({ action, conversion_type }) => (action === 'conversion' ? conversion_type || action : (action ?? '')),
      }),
      when: ({ fields }) => 'buyer_pixel_id' in fields,
    },
    scriptLoad(/^\/teads-fellow\.js$/),
  ],
}
