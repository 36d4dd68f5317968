import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'

export const quoraPixel: Decoder = {
  vendor: 'Quora Pixel',
  source: 'https://quoraadsupport.zendesk.com/hc/en-us/categories/115001573928-Pixels-Tracking',
  hosts: ['q.quora.com', 'a.quora.com'],
  routes: [pixel(/^\/_\/ad\/(?<account>[^/]+)\/pixel$/, { event: 'tag' }), scriptLoad(/^\/qevents\.js$/)],
}
