import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** Formerly Efficient Frontier and TubeMogul. Reports conversions that follow a click on an ad or a view of it. */
export const adobeAdvertising: Decoder = {
  vendor: 'Adobe Advertising',
  source: 'https://experienceleague.adobe.com/en/docs/advertising/search-social-commerce/tracking/conversion-tracking',
  hosts: ['everesttech.net', 'everestjs.net'],
  routes: [
    pixel(/^\/px2?\/(?<account>\d+)$/, { event: ({ px_evt }) => (px_evt === 't' ? 'transaction' : px_evt || 'pixel') }),
    pixel(/^\/(?<account>\d+)\/(?:v|t)\d?$/, { event: () => 'view' }),
    // Audience segments, and identity sync.
    sideChannel(/^\/(?:\d+\/(?:gr|s|cq)|1x1|cm(?:\/\w+)?|(?:ct\/)?upi\/.*)$/),
    scriptLoad(/^\/(?:static|dl\/(?<account>\d+))\/.+\.js$/),
  ],
}
