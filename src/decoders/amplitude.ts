import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, looksLike, readJsonObjects } from './json.ts'
import { formMark, isForm, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const amplitude: Decoder = {
  vendor: 'Amplitude',
  source: 'https://amplitude.com/docs/apis/analytics/http-v2',
  hosts: ['amplitude.com'],
  routes: [
    { path: /^\/(?:2\/httpapi|batch)\/?$/, read: readBatch },
    { path: /^\/(?:httpapi|identify|groupidentify)?\/?$/, when: ({ host }) => host.startsWith('api'), read: readForm },
    // Settings, flags, session replay, and reports on the vendor's own code.
    sideChannel(/^\/(?:config|sessions|sdk|v1)\//),
    scriptLoad(/^\/script\/(?<account>[^/.]+)(?:\.\w+)?\.js$/),
    scriptLoad(/^\/(?:libs|scripts)\//),
    // Requests through a proxy, with any path. The SDK adds the name of its library to each event.
    {
      path: /^/,
      anyHost: true,
      mark: /^.*\n\{(?=[\s\S]*"api_key":")[\s\S]*"library":"amplitude-/,
      when: ({ body }) => looksLike(body, '{', '"api_key":"', '"library":"amplitude-'),
      read: readBatch,
    },
    // Requests of the previous SDK, whose checksum covers the key and the events.
    {
      path: /^/,
      anyHost: true,
      mark: formMark('client=', 'checksum=[\\da-f]{32}', 'e=(?:%5B%7B|\\[\\{)'),
      when: (request) =>
        isForm(request.body) &&
        looksLike(request.body, '', 'client=', 'checksum=', 'event_type') &&
        /^[\da-f]{32}$/.test(request.fields.checksum ?? ''),
      read: readForm,
    },
  ],
}

function* readBatch({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { events, ...rest } = json
  const shared = sharedOf(rest)
  const account = scalarOrNull(json.api_key)
  for (const event of objectsOf(events)) {
    yield { event: scalarText(event.event_type), account, params: { ...shared, ...event } }
  }
}

/** The older APIs. A form or the query contains all fields, and one field contains the events as JSON. */
function* readForm(request: VendorRequest): Iterable<DecodedEvent> {
  if (isJson(request.body)) {
    yield* readBatch(request)
    return
  }
  const { e, event, identification, ...rest } = request.fields
  const account = scalarOrNull(rest.api_key ?? rest.client)
  const other = request.path.startsWith('/group') ? '$groupidentify' : '$identify'
  for (const sent of readJsonObjects(e ?? event ?? identification)) {
    const name = identification === undefined ? scalarText(sent.event_type) : other
    yield { event: name, account, params: { ...rest, ...sent } }
  }
}
