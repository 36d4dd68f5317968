import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson, readJsonObjects } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { pixel, scriptLoad, sideChannel } from './route.ts'

/** The account is the public key, the company's id. */
export const klaviyo: Decoder = {
  vendor: 'Klaviyo',
  source: 'https://developers.klaviyo.com/en/reference/create_client_event',
  hosts: ['klaviyo.com', 'kmail-lists.com'],
  routes: [
    { path: /^\/client\/(?:[\w-]+)\/?$/, read: readClient },
    {
      path: /^\/api\/(?:events|event-bulk-create-jobs|profiles|profile-import|profile-bulk-import-jobs)\/?$/,
      read: readClient,
    },
    { path: /^\/api\/(?:track|track-once|identify)\/?$/, read: readBefore },
    pixel(/^\/ajax\/subscriptions\/subscribe$/, { account: 'a', event: () => 'subscription' }),
    // Counts of forms that were shown and sent; texts of forms; speed of the code.
    sideChannel(/^\/(?:onsite\/track-analytics|forms\/api\/|custom-fonts\/|metrics\/|telemetry)/),
    scriptLoad(/^\/onsite\/js\/(?<account>\w{6})\/klaviyo\.js$/),
    scriptLoad(/^\/(?:onsite\/js|media\/js)\/.*\.js$/, 'company_id'),
  ],
}

/**
 * `{data: {type, attributes}}`; only events have a metric's name, the others go by their type. Servers send the same, and
 * their private key is in a header. A request without a body asks for something.
 */
function* readClient(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  const { query, json } = request
  const account = scalarOrNull(query.company_id)
  const { type, attributes } = objectOf(json.data)
  const many = eventsInBulk(objectOf(attributes))
  for (const sent of many.length > 0 ? many : [{ type, attributes }]) {
    const metric = objectOf(objectOf(objectOf(sent.attributes).metric).data)
    const event = scalarText(objectOf(metric.attributes).name) || scalarText(sent.type)
    yield { event, account, params: { ...query, ...sent } }
  }
}

/** Events of one profile, or lists of them for several. */
function eventsInBulk(attributes: Record<string, unknown>): Record<string, unknown>[] {
  const list = attributes['events-bulk-create']
  const profiles = list === undefined ? [{ attributes }] : objectsOf(objectOf(list).data)
  return profiles.flatMap((one) => {
    const { profile, events } = objectOf(one.attributes)
    return objectsOf(objectOf(events).data).map((event) => (profile === undefined ? event : { profile, ...event }))
  })
}

/** The API before: JSON in base64 in one field, `{token, event, properties}`. */
function* readBefore({ path, body, fields }: VendorRequest): Iterable<DecodedEvent> {
  const { data = '' } = fields
  const text = isJson(body) ? body : isJson(data) ? data : fromBase64(data)
  for (const sent of readJsonObjects(text)) {
    const event = path.includes('identify') ? 'identify' : scalarText(sent.event)
    yield { event, account: scalarOrNull(sent.token), params: sent }
  }
}
