import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

const PIXEL = /^\/(?:s\/)?iu3$/

export const amazonAds: Decoder = {
  vendor: 'Amazon Ads',
  source: 'https://advertising.amazon.com/help/GZR2WSZBVMUSDTV7',
  hosts: ['amazon-adsystem.com', 'paa-reporting-advertising.amazon'],
  routes: [
    { ...pixel(PIXEL, { account: 'pid', event: 'event' }), when: ({ fields }) => 'pid' in fields },
    scriptLoad(/^\/aat\/amzn\.js$/),
    // Identity sync, and the same event for the browser's attribution API.
    sideChannel(/^\/(?:s\/)?(?:iu3|iui3|dcm|ecm3|v3\/pr|x\/[0-9a-f]+|aat)$/),
  ],
}
