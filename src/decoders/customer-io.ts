import type { DecodedEvent, Decoder } from './decoder.ts'
import { readJsonObjects } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'
import { readCalls } from './segment-calls.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Two products: Data Pipelines, which uses Segment's API, and the older Track API with its snippet. */
export const customerIo: Decoder = {
  vendor: 'Customer.io',
  source: 'https://docs.customer.io/integrations/api/track/',
  hosts: [
    'cdp.customer.io',
    'cdp-eu.customer.io',
    'track.customer.io',
    'track-eu.customer.io',
    'assets.customer.io',
    'customerioforms.com',
  ],
  routes: [
    { path: /^\/v1\/(?:[tpigasb]|track|page|identify|group|alias|screen|batch|import)\/?$/, read: readCalls },
    // Requests from the snippet: `/events/page.gif`, `/events/event.gif`. `s` is the site.
    pixel(/^\/events(?:\/\w+\.gif)?\/?$/, { account: 's', event: ({ name, type }) => name || type || '' }),
    pixel(/^\/(?:customers|identify)(?:\/\w+)?\.gif$/, { account: 's', event: () => 'identify' }),
    { path: /^\/api\/v1\/(?:customers\/[^/]+\/)?events\/?$/, read: readTracked },
    { path: /^\/api\/v1\/customers\/[^/]+\/?$/, read: readIdentified },
    { path: /^\/api\/v2\/(?:entity|batch)\/?$/, read: readEntities },
    // Settings of the source, devices that receive messages, and opens and clicks in e-mails.
    sideChannel(/^\/(?:v1\/(?:m|projects\/[^/]+\/settings)|api\/v1\/customers\/[^/]+\/devices|e\/)/),
    scriptLoad(/^\/(?:v1\/analytics-js\/snippet|analytics\.js\/v1)\/(?<account>[^/]+)\//),
    scriptLoad(/^\/assets\/(?:track|in-app)(?:-eu)?\.js$/),
    scriptLoad(/\.js$/),
  ],
}

/** The account key is in a header. */
function readTracked({ json }: VendorRequest): DecodedEvent[] {
  return [{ event: scalarText(json.name), account: null, params: json }]
}

function readIdentified({ json }: VendorRequest): DecodedEvent[] {
  return [{ event: 'identify', account: null, params: json }]
}

function* readEntities({ body }: VendorRequest): Iterable<DecodedEvent> {
  for (const sent of readJsonObjects(body)) {
    for (const entity of sent.batch === undefined ? [sent] : objectsOf(sent.batch)) {
      const { name } = objectOf(entity)
      yield { event: scalarText(name ?? entity.action), account: scalarOrNull(entity.site_id), params: entity }
    }
  }
}
