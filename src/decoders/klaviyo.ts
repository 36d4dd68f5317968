import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson, readJsonObjects } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account is the public API key, which is the company's id. */
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
    // Counts of viewed and submitted forms, texts of forms, and performance of the vendor's own code.
    sideChannel(/^\/(?:onsite\/track-analytics|forms\/api\/|custom-fonts\/|metrics\/|telemetry)/),
    scriptLoad(/^\/onsite\/js\/(?<account>\w{6})\/klaviyo\.js$/),
    scriptLoad(/^\/(?:onsite\/js|media\/js)\/.*\.js$/, 'company_id'),
  ],
}

/**
 * `{data: {type, attributes}}`. Only events have a metric name. Other calls are named after their type. Servers send
 * the same format, with a private key in a header. A request without a body only retrieves data.
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

/** Returns the events of one profile, or of several profiles that each have a list of events. */
function eventsInBulk(attributes: Record<string, unknown>): Record<string, unknown>[] {
  const list = attributes['events-bulk-create']
  const profiles = list === undefined ? [{ attributes }] : objectsOf(objectOf(list).data)
  return profiles.flatMap((one) => {
    const { profile, events } = objectOf(one.attributes)
    return objectsOf(objectOf(events).data).map((event) => (profile === undefined ? event : { profile, ...event }))
  })
}

/** The previous API. A single field contains `{token, event, properties}` as JSON in base64. */
function* readBefore({ path, body, fields }: VendorRequest): Iterable<DecodedEvent> {
  const { data = '' } = fields
  const text = isJson(body) ? body : isJson(data) ? data : fromBase64(data)
  for (const sent of readJsonObjects(text)) {
    const event = path.includes('identify') ? 'identify' : scalarText(sent.event)
    yield { event, account: scalarOrNull(sent.token), params: sent }
  }
}
