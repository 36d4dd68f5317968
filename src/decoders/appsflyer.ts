import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The “people-based attribution” product for the web. The account is the web app's id. */
export const appsflyer: Decoder = {
  vendor: 'AppsFlyer',
  source: 'https://dev.appsflyer.com/',
  hosts: ['wa.appsflyer.com', 'websdk.appsflyer.com', 'wa.onelink.me', 'banner.appsflyer.com'],
  routes: [
    { path: /^\/events\/?$/, read: readEvent },
    // App banners.
    { ...sideChannel(/^\//), when: ({ host }) => host.startsWith('banner.') },
    scriptLoad(/^\/(?:[\w./-]+\.js)?$/, 'af_id'),
  ],
}

/** `{data: {eventType, eventName, webAppId}, meta}`; `LOAD` is a page view. */
function readEvent({ query, json }: VendorRequest): DecodedEvent[] {
  const { eventName, eventType, webAppId } = objectOf(json.data ?? json)
  const event = scalarText(eventName) || scalarText(eventType)
  return [{ event, account: scalarOrNull(webAppId ?? query['site-id']), params: json }]
}
