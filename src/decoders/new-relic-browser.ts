import type { DecodedEvent, Decoder } from './decoder.ts'
import { insideJson, withEmbedded } from './embedded-params.ts'
import { objectOf, objectsOf, readJsonObject, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Events have the names that New Relic's database uses. The account is the application. The path contains the licence
 * key.
 */
export const newRelicBrowser: Decoder = {
  vendor: 'New Relic Browser',
  source: 'https://github.com/newrelic/newrelic-browser-agent',
  hosts: ['nr-data.net', 'js-agent.newrelic.com'],
  routes: [
    { path: /^\/1\/[\w-]+$/, read: readPage },
    { path: /^\/ins\/1\//, read: readInsights },
    { path: /^\/jserrors\/1\//, read: readErrors },
    // Timings and requests in a proprietary format, traces, recordings and logs.
    sideChannel(/^\/(?:events|resources)\/(?:\d\/)?|^\/browser\//),
    scriptLoad(/^\/[\w.-]+\.js$/),
  ],
}

/** Reads a page load. `ja` contains custom attributes of the page; without a body, they are JSON text. */
function readPage({ query, body }: VendorRequest): DecodedEvent[] {
  const sent = { ...query, ...(body ? readJsonObject(body) : {}) }
  const params = withEmbedded(sent, insideJson(sent, 'ja'))
  return [{ event: 'PageView', account: scalarOrNull(query.a), params }]
}

/** `{"ins": [{"eventType": "PageAction", "actionName": …}]}` */
function* readInsights({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(json.ins)) {
    const type = scalarText(event.eventType)
    const name = type === 'PageAction' ? scalarText(event.actionName) : ''
    yield { event: name || type, account: scalarOrNull(query.a), params: event }
  }
}

/** `{"err": [{params, custom}]}`, and counters for the vendor's own code. */
function* readErrors({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  for (const error of objectsOf(json.err)) {
    const params = { ...objectOf(error.params), custom: error.custom }
    yield { event: 'JavaScriptError', account: scalarOrNull(query.a), params }
  }
}
