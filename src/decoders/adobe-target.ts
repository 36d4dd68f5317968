import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const MBOX = /\/m2\/(?<client>[^/]+)\/(?:mbox|ubox|viztarget)(?:\/|$)/
const DELIVERY = /\/rest\/v1\/delivery\/?$/

const ASKS = /"(?:execute|prefetch|notifications)"/

const mboxCall: Route = {
  path: MBOX,
  read: ({ path, fields }) => [
    { event: fields.mbox ?? '', account: scalarOrNull(MBOX.exec(path)?.groups?.client), params: fields },
  ],
}

/**
 * Slots on a page whose content Adobe Target selects. A slot has the name of its mbox; `pageLoad` is the whole page.
 */
export const adobeTarget: Decoder = {
  vendor: 'Adobe Target',
  source: 'https://experienceleague.adobe.com/en/docs/target-dev/developer/api/delivery-api/overview',
  hosts: ['tt.omtrdc.net'],
  routes: [
    mboxCall,
    { path: DELIVERY, read: readDelivery },
    scriptLoad(/\.js$/),
    // Requests sent by older versions of the code, and the results of a visit.
    { ...sideChannel(/^\//), when: ({ host }) => host.endsWith('.tt.omtrdc.net') },
    // Requests to the customer's own host.
    {
      ...mboxCall,
      anyHost: true,
      mark: /[?&]mboxSession=/,
      when: ({ search }) => search.includes('mbox=') && search.includes('mboxSession='),
    },
    {
      path: DELIVERY,
      anyHost: true,
      // A shop may use `delivery` in its own paths, so the mark also checks the query and the body.
      mark: /^(?=.*[?&]client=)(?=.*[?&]sessionId=).*\n[\s\S]*"(?:execute|prefetch|notifications)"/,
      when: ({ query, body }) => Boolean(query.client && query.sessionId) && ASKS.test(body ?? ''),
      read: readDelivery,
    },
  ],
}

/**
 * Reads requests for content that is shown immediately (`execute`) or later (`prefetch`), and reports of content that
 * was shown or clicked.
 */
function* readDelivery({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  const { execute, prefetch, notifications, ...rest } = json
  const account = scalarOrNull(query.client)
  const shared = sharedOf(rest)
  for (const [ask, wanted] of Object.entries({ execute, prefetch })) {
    for (const [event, place] of placesOf(objectOf(wanted))) {
      yield { event, account, params: { ...shared, [ask]: place } }
    }
  }
  for (const notification of objectsOf(notifications)) {
    yield { event: scalarText(notification.type), account, params: { ...shared, notification } }
  }
}

function* placesOf({ pageLoad, mboxes, views }: Record<string, unknown>): Iterable<[event: string, place: unknown]> {
  if (pageLoad) yield ['pageLoad', pageLoad]
  for (const mbox of objectsOf(mboxes)) yield [scalarText(mbox.name), mbox]
  // A single-page app requests the content of all its views at once.
  if (Array.isArray(views)) yield ['views', views]
}
