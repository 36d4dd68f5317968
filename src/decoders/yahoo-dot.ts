import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'

/** Custom events are named after their action, as in the call that sends them. */
export const yahooDot: Decoder = {
  vendor: 'Yahoo Dot Tag',
  source: 'https://developer.yahooinc.com/dsp/api/docs/traffic/info/dot-pixel.html',
  hosts: ['sp.analytics.yahoo.com', 's.yimg.com'],
  routes: [
    pixel(/^\/spp\.pl$/, { account: '.yp', event: ({ ea, et }) => ea || et || 'pageview' }),
    scriptLoad(/^\/wi\/(?:ytc|config\/\w+)\.js(?:on)?$/),
  ],
}
