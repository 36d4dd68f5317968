import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectsOf, type Params, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Types of events that the vendor's code sends automatically. The key of these events only lists the items that they
 * concern.
 */
const OWN_TYPES = new Set(['client_activation', 'campaign_activated', 'view_activated', 'decision'])

/** https://docs.developers.optimizely.com/feature-experimentation/reference/event-api */
export const optimizely: Decoder = {
  vendor: 'Optimizely',
  source: 'https://docs.developers.optimizely.com/web-experimentation/docs/event-api',
  hosts: ['optimizely.com'],
  routes: [
    { path: /^\/v1\/events$/, read: readEvents },
    { path: /^\/log\/event$/, read: readEvent },
    { path: /^\/event$/, when: ({ host }) => host.endsWith('.log.optimizely.com'), read: readClassicEvent },
    {
      ...scriptLoad(/^\/(?:js|public)\/(?<account>\d+)(?:\.js|\/)/),
      when: ({ host }) => host.includes('cdn'),
    },
    { ...scriptLoad(/^\/(?:js|datafiles|client_storage)\//), when: ({ host }) => host.includes('cdn') },
  ],
}

/**
 * `{account_id, visitors: [{visitor_id, snapshots: [{decisions, events: [{type, key, …}]}]}]}`. The snippet abbreviates
 * the keys of an event to `y`, `k`, `e`.
 */
function* readEvents({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { visitors, ...rest } = json
  const shared = sharedOf(rest)
  const account = scalarOrNull(json.account_id)
  for (const { snapshots, attributes, ...visitor } of objectsOf(visitors)) {
    for (const { events, decisions } of objectsOf(snapshots)) {
      for (const event of objectsOf(events)) {
        const type = scalarText(event.type ?? event.y)
        const key = scalarText(event.key ?? event.k)
        const params = { ...shared, ...sharedOf(visitor), ...event, decisions, attributes }
        yield { event: OWN_TYPES.has(type) ? type : key || type, account, params }
      }
    }
  }
}

/** A single event, as sent by older snippets. */
function readEvent({ json }: VendorRequest): DecodedEvent[] {
  const event = scalarText(json.eventName) || scalarText(json.eventType)
  return [{ event, account: scalarOrNull(json.accountId), params: json }]
}

/** Reads an event of Optimizely Classic. The name of a page view is a URL. */
function readClassicEvent({ fields }: VendorRequest): DecodedEvent[] {
  const { n = '', a }: Params = fields
  return [{ event: /^https?:/.test(n) ? 'page_view' : n, account: scalarOrNull(a), params: fields }]
}
