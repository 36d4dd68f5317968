import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route.ts'

/** Events are named as in the vendor's database; the account is the application. The licence key is in the path. */
export const newRelicBrowser: Decoder = {
  vendor: 'New Relic Browser',
  source: 'https://github.com/newrelic/newrelic-browser-agent',
  hosts: ['nr-data.net', 'js-agent.newrelic.com'],
  routes: [
    jsonEvent(/^\/1\/[\w-]+$/, { account: 'a', event: () => 'PageView' }),
    { path: /^\/ins\/1\//, read: readInsights },
    { path: /^\/jserrors\/1\//, read: readErrors },
    // Timings and requests in a format of their own; traces, recordings, logs.
    sideChannel(/^\/(?:events|resources)\/(?:\d\/)?|^\/browser\//),
    scriptLoad(/^\/[\w.-]+\.js$/),
  ],
}

/** `{"ins": [{"eventType": "PageAction", "actionName": …}]}` */
function* readInsights({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  for (const event of objectsOf(json.ins)) {
    const type = scalarText(event.eventType)
    const name = type === 'PageAction' ? scalarText(event.actionName) : ''
    yield { event: name || type, account: scalarOrNull(query.a), params: event }
  }
}

/** `{"err": [{params, custom}]}`, beside counters of the code itself. */
function* readErrors({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  for (const error of objectsOf(json.err)) {
    const params = { ...objectOf(error.params), custom: error.custom }
    yield { event: 'JavaScriptError', account: scalarOrNull(query.a), params }
  }
}
