import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route.ts'

const TR = /^\/tr\/?$/

export const metaPixel: Decoder = {
  vendor: 'Meta Pixel',
  source: 'https://developers.facebook.com/docs/meta-pixel/advanced',
  hosts: ['facebook.com', 'connect.facebook.net'],
  routes: [
    // What the code found in the page's markup, sent by itself after a page view: nobody's event.
    { ...sideChannel(TR), when: ({ fields }) => fields.ev === 'Microdata' },
    pixel(TR, { account: 'id', event: 'ev' }),
    // Repeats the event for the browser's attribution interface.
    sideChannel(/^\/privacy_sandbox\/pixel\//),
    scriptLoad(/^\/signals\/config\/(?<account>\d+)$/),
    scriptLoad(/\/fb(?:events|ds)\.js$|^\/signals\//),
  ],
}
