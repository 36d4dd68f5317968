import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, unfolded } from './json.ts'
import { objectsOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const CALL = /^\/messenger\/web\/(?:[\w-]+\/)*(?<event>[\w-]+)$/

export const intercom: Decoder = {
  vendor: 'Intercom',
  source: 'https://developers.intercom.com/installing-intercom/web/methods',
  hosts: ['intercom.io', 'intercomcdn.com'],
  routes: [
    { path: /^\/messenger\/web\/metrics$/, read: readMetrics },
    { path: CALL, read: readCall },
    // Server API. The account key is in a header.
    { ...jsonEvent(/^\/events$/, { event: 'event_name' }), when: ({ host }) => host.startsWith('api.') },
    scriptLoad(/^\/widget\/(?<account>\w+)$/),
    { ...scriptLoad(/\.js$/), when: ({ host }) => host.startsWith('js.') },
    { ...sideChannel(/^\//), when: ({ host }) => host.startsWith('nexus') },
  ],
}

function sentBy(request: VendorRequest): Record<string, unknown> {
  return isJson(request.body) ? { ...request.query, ...request.json } : request.fields
}

/**
 * Reads a call. Calls are named after the last segment of their path (`ping` once per page). Custom events have their
 * own names.
 */
function readCall(request: VendorRequest): DecodedEvent[] {
  const { user_data, ...sent } = sentBy(request)
  const named = scalarText(sent.event_name) || CALL.exec(request.path)?.groups?.event
  const params = { ...sent, user_data: unfolded(user_data), metadata: unfolded(sent.metadata) }
  return [{ event: named ?? '', account: scalarOrNull(sent.app_id), params }]
}

/** Events in the Messenger. `metrics` is a list of `{name, metadata}`. */
function* readMetrics(request: VendorRequest): Iterable<DecodedEvent> {
  const { metrics, ...sent } = sentBy(request)
  for (const metric of objectsOf(unfolded(metrics))) {
    yield { event: scalarText(metric.name), account: scalarOrNull(sent.app_id), params: { ...sent, ...metric } }
  }
}
