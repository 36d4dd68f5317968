import type { Decoder } from './decoder.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

export const tiktokPixel: Decoder = {
  vendor: 'TikTok Pixel',
  source: 'https://ads.tiktok.com/help/article/supported-standard-events',
  hosts: ['analytics.tiktok.com', 'analytics.us.tiktok.com'],
  routes: [
    { path: /^\/api\/v\d\/(?:pixel(?:\/act)?|track)\/?$/, read: readEvent },
    // Reports on the code itself: speed, errors, what it can do.
    sideChannel(/^\/api\/v\d\//),
    scriptLoad(/^\/i18n\/pixel\//, 'sdkid'),
  ],
}

/** `event` is what the page reports, `action` what the code saw by itself (`Click`, `Metadata`). */
function readEvent({ json }: VendorRequest) {
  const { pixel } = objectOf(json.context)
  return [{ event: scalarText(json.event ?? json.action), account: scalarOrNull(objectOf(pixel).code), params: json }]
}
