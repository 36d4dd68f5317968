import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const tiktokPixel: Decoder = {
  vendor: 'TikTok Pixel',
  source: 'https://ads.tiktok.com/help/article/supported-standard-events',
  hosts: ['analytics.tiktok.com', 'analytics.us.tiktok.com', 'business-api.tiktok.com'],
  routes: [
    { path: /^\/api\/v\d\/(?:pixel(?:\/(?:act|track|batch))?|track)\/?$/, read: readEvents },
    // Reports on the vendor's own code: performance, errors, supported features.
    sideChannel(/^\/api\/v\d\//),
    // https://business-api.tiktok.com/portal/docs?id=1771101303285761
    serverEvents(/^\/open_api\/v[\d.]+\/event\/track\/?$/, {
      list: 'data',
      event: 'event',
      account: ({ event_source_id }) => event_source_id,
    }),
    // The previous version, with one event or `{pixel_code, batch: [event, …]}`.
    jsonEvent(/^\/open_api\/v[\d.]+\/pixel\/track\/?$/, { event: 'event', account: 'pixel_code' }),
    serverEvents(/^\/open_api\/v[\d.]+\/pixel\/batch\/?$/, {
      list: 'batch',
      event: 'event',
      account: ({ pixel_code }) => pixel_code,
    }),
    scriptLoad(/^\/i18n\/pixel\//, 'sdkid'),
  ],
}

/** One event, or `{batch: [event, …]}`. */
function readEvents({ json }: VendorRequest): Iterable<DecodedEvent> {
  return (Array.isArray(json.batch) ? objectsOf(json.batch) : [json]).map(toEvent)
}

/**
 * `event` is set for events that the page reports, `action` for those that the vendor's code reports automatically
 * (`Click`, `Metadata`).
 */
function toEvent(sent: Record<string, unknown>): DecodedEvent {
  const { pixel } = objectOf(sent.context)
  return { event: scalarText(sent.event ?? sent.action), account: scalarOrNull(objectOf(pixel).code), params: sent }
}
