import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson, readJsonObjects } from './json.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Medallia Digital (surveys, formerly Kampyle) and Digital Experience Analytics (recordings, formerly Decibel). */
export const medallia: Decoder = {
  vendor: 'Medallia',
  source: 'https://developer.medallia.com/medallia-dxa/docs/introduction',
  hosts: ['kampyle.com', 'medallia.com', 'medallia.eu', 'decibelinsight.net'],
  routes: [
    { path: /\/track\/__cool\.gif$|^\/api\/web\/events$/, read: readSurveyEvents },
    scriptLoad(/^\/(?:[a-z]{2}\/)?w[a-z]{1,6}\/(?<account>\d+)\/onsite\/[\w.-]+\.js(?:on)?$/),
    // Forms and their assets.
    sideChannel(/^\/(?:[a-z]{2}\/)?(?:w[a-z]{1,6}\/\d+\/forms|resources)\//),
    // The customer's own host may serve the recording library.
    { ...scriptLoad(/\/i\/(?<account>\d+\/\d+)\/di\.js$/), anyHost: true },
    sideChannel(/^\/i\/\d+\//),
  ],
}

/** `{"events": [{"event_name": "nebula_page_view", "websiteId": 7, …}]}`. If it is in a parameter, it is in base64. */
function* readSurveyEvents({ query, fields, body }: VendorRequest): Iterable<DecodedEvent> {
  const text = isJson(body) ? body : (query.data ?? fields.data ?? '')
  for (const { events } of readJsonObjects(isJson(text) ? text : fromBase64(text))) {
    for (const event of objectsOf(events)) {
      yield { event: scalarText(event.event_name), account: scalarOrNull(event.websiteId), params: event }
    }
  }
}
