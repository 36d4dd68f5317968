import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { isJson, readJsonObjects } from './json.ts'
import { type Params, scalarOrNull, scalarText } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const EVENTS: Route = { path: /^\/(?:cdp\/)?events\/?$/, read: readEvents }

/** Interactions with a campaign that are measured, by path. */
const MEASURES: Params = { c3: 'click', s3: 'visit', cs3: 'click and visit', v3: 'view' }

/** The account is the site id. */
export const commandersAct: Decoder = {
  vendor: 'Commanders Act',
  source: 'https://github.com/CommandersAct/Platform-Documentation',
  hosts: ['commander1.com', 'tagcommander.com', 'trustcommander.net'],
  routes: [
    EVENTS,
    ...Object.entries(MEASURES).map(([path, event]) =>
      pixel(new RegExp(`^/${path}/?$`), { account: 'tcs', event: () => event }),
    ),
    // Cookies, profiles, and statistics on consent.
    sideChannel(/^\/(?:reach|dms|css|get-cookie|privacy-consent)\b/),
    scriptLoad(/^\/(?:privacy\/)?(?<account>\d+)\/.*\.js$/),
    {
      ...EVENTS,
      anyHost: true,
      mark: /[?&]tc_s=\d/,
      when: (request) => request.search.includes('tc_s=') && /^\d+$/.test(request.query.tc_s ?? ''),
    },
  ],
}

/** Reads events in JSON, or events that are sent entirely in the query. */
function* readEvents({ query, body, fields }: VendorRequest): Iterable<DecodedEvent> {
  for (const sent of isJson(body) ? readJsonObjects(body) : [fields]) {
    const event = scalarText(sent.event_name) || scalarText(sent.event)
    yield { event, account: scalarOrNull(query.tc_s), params: { ...query, ...sent } }
  }
}
