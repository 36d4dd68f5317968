import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson, unfolded } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** For a library, the account is the partner's id. For an event, it is the partner's name. */
export const insider: Decoder = {
  vendor: 'Insider',
  source: 'https://academy.insiderone.com/docs/insider-tag',
  hosts: ['useinsider.com'],
  routes: [
    { path: /^\/hit$/, when: ({ host }) => host.startsWith('hit.'), read: readHit },
    { path: /^\/api\/user\/v\d\/upsert$/, read: readUsers },
    scriptLoad(/^\/ins\.js$/, 'id'),
    { ...sideChannel(/^\//), when: ({ host }) => /^[\w-]+\.api\.useinsider\.com$/.test(host) },
  ],
}

/** `{"partner_name": …, "event": "pageView", …}`, percent-encoded and then in base64. */
function readHit(request: VendorRequest): DecodedEvent[] {
  const sent = isJson(request.body) ? request.json : hiddenIn(request.body ?? '')
  return [{ event: scalarText(sent.event), account: scalarOrNull(sent.partner_name), params: sent }]
}

function hiddenIn(body: string): Record<string, unknown> {
  const text = fromBase64(body.replace(/^(?:data=)?/, '').replaceAll('%3D', '='))
  const sent = unfolded(text.startsWith('%7B') ? percentDecoded(text) : text)
  if (typeof sent === 'string') throw new Error('the body is not JSON')
  return objectOf(sent)
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** Events for multiple users: https://academy.insiderone.com/docs/upsert-user-data. The partner is in a header. */
function* readUsers({ json }: VendorRequest): Iterable<DecodedEvent> {
  for (const { events, identifiers } of objectsOf(json.users)) {
    for (const event of objectsOf(events)) {
      yield { event: scalarText(event.event_name), account: null, params: { identifiers, ...event } }
    }
  }
}
