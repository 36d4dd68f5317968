import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

export const outbrainPixel: Decoder = {
  vendor: 'Outbrain Pixel',
  source: 'https://www.outbrain.com/help/advertisers/outbrain-pixel/',
  hosts: ['tr.outbrain.com', 'amplify.outbrain.com', 'wave.outbrain.com', 'sync.outbrain.com'],
  routes: [
    pixel(/^\/(?:unifiedPixel|pixel)$/, { account: 'marketerId', event: 'name' }),
    scriptLoad(/^\/cp\/obtp\.js$/),
    scriptLoad(/^\/mtWavesBundler\/handler\/(?<account>[^/]+)$/),
    // Identity sync.
    sideChannel(/^\/(?:cachedClickId|cookie-sync)$/),
  ],
}
