import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

export const taboolaPixel: Decoder = {
  vendor: 'Taboola Pixel',
  source: 'https://developers.taboola.com/pixel/docs',
  hosts: ['taboola.com'],
  routes: [
    pixel(/^\/actions-handler\/log\/3\/s2s-action$/, { event: 'name' }),
    pixel(/^\/(?<account>[^/]+)\/log\/\d\/(?:unip|mark)$/, {
      event: ({ en, 'marking-type': mark }) => en || mark || '',
    }),
    scriptLoad(/^\/libtrc\/unip\/(?<account>[^/]+)\/tfa\.js$/),
    // Identity sync.
    sideChannel(/^\/sg\//),
  ],
}
