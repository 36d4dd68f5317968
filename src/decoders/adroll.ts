import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** The path contains the advertiser, followed by the pixel. */
export const adroll: Decoder = {
  vendor: 'AdRoll Pixel',
  source: 'https://help.adroll.com/hc/en-us/articles/211846018',
  hosts: ['d.adroll.com', 's.adroll.com'],
  routes: [
    pixel(/^\/i?pixel\/(?<account>[A-Z0-9]+)(?:\/[A-Z0-9]+)*\/?$/, { event: ({ ev, e }) => ev || e || 'pageView' }),
    // Identity sync, and copies of an event for other vendors.
    sideChannel(/^\/(?:cm|pex|fb|onp|p)\//),
    scriptLoad(/^\/j\/(?:(?<account>[A-Z0-9]{10,})\/)?.*roundtrip\.js$/),
  ],
}
