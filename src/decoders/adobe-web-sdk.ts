import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { looksLike } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** `/ee/<region>/v1/<action>`, or `va` before the version for media. The first segment can be configured. */
const events: Route = { path: /\/(?:v1\/(?:interact|collect)|va\/v1\/\w+|v2\/(?:interact|collect))$/, read: readEvents }

/** A UUID, which may be followed by an environment such as `:dev`. */
const DATASTREAM = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?::|$)/i

/**
 * A page sends a single call to Adobe's edge network, which forwards it to Analytics, Target, Audience Manager and
 * Experience Platform.
 */
export const adobeWebSdk: Decoder = {
  vendor: 'Adobe Experience Platform Web SDK',
  source: 'https://experienceleague.adobe.com/en/docs/experience-platform/edge-network-server-api/overview',
  hosts: ['adobedc.net', 'adobedc.demdex.net', 'adoberesources.net'],
  routes: [
    events,
    // Visitor identity and consent.
    sideChannel(/\/v\d\/(?:identity\/acquire|privacy\/set-consent)$/),
    scriptLoad(/\.js$/),
    // Requests to the customer's own host.
    {
      ...events,
      anyHost: true,
      mark: /^.*[?&](?:configId|dataStreamId)=[\dA-Fa-f]{8}-(?:[\dA-Fa-f]{4}-){3}[\dA-Fa-f]{12}|^(?=.*[?&](?:configId|dataStreamId)=).*\n\{[\s\S]*"xdm"/,
      when: isOfDatastream,
    },
  ],
}

function isOfDatastream({ query, body }: VendorRequest): boolean {
  const id = query.configId ?? query.dataStreamId
  return id !== undefined && (DATASTREAM.test(id) || looksLike(body, '{', '"xdm"'))
}

/** `{events: [{xdm, data}, …]}`; servers also send `{event: {xdm, data}}`. The account is the datastream. */
function* readEvents({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  const { events, event, ...rest } = json
  const account = scalarOrNull(query.configId ?? query.dataStreamId)
  const shared = sharedOf(rest)
  for (const carried of objectsOf(Array.isArray(events) ? events : [event])) {
    yield { event: eventName(objectOf(carried.xdm)), account, params: { ...shared, ...carried } }
  }
}

/**
 * Returns the event's name. As in Experience Platform, an event that has a page-view count but no type is a page view.
 */
function eventName({ eventType, web }: Record<string, unknown>): string {
  const { pageViews } = objectOf(objectOf(web).webPageDetails)
  return scalarText(eventType) || (pageViews ? 'web.webpagedetails.pageViews' : '')
}
