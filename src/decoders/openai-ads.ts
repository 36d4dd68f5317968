import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, objectsIn } from './json.ts'
import { scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The pixel and the Conversions API send the same events. The account is the pixel id. */
export const openaiAds: Decoder = {
  vendor: 'OpenAI Ads',
  source: 'https://developers.openai.com/ads/measurement-pixel',
  hosts: ['bzr.openai.com', 'bzrcdn.openai.com'],
  routes: [
    { path: /^\/v\d\/(?:sdk\/)?events\/?$/, read: readEvents },
    // Identity sync.
    sideChannel(/^\/v\d\/obi\//),
    scriptLoad(/\.js$/, 'pid'),
  ],
}

/**
 * `{events: [event, …]}`. An image request has one event in its query. Requests that only validate events yield
 * nothing.
 */
function* readEvents(request: VendorRequest): Iterable<DecodedEvent> {
  const { query, body } = request
  const account = scalarOrNull(query.pid)
  if (!isJson(body)) {
    const { fields } = request
    if (fields.event) yield { event: nameOf(fields.event, fields), account, params: fields }
    return
  }
  const { events, validate_only, ...rest } = request.json
  if (validate_only === true) return
  const shared = { ...query, ...sharedOf(rest) }
  for (const event of objectsIn(events)) {
    const type = scalarText(event.type)
    // Excludes reports on the vendor's own code: `openai::sdk_init`, `oai::diagnostic`.
    if (!type.includes('::')) yield { event: nameOf(type, event), account, params: { ...shared, ...event } }
  }
}

function nameOf(type: string, { custom_event_name }: Record<string, unknown>): string {
  return (type === 'custom' && scalarText(custom_event_name)) || type
}
