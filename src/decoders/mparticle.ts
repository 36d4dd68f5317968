import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { readJsonObjects } from './json.ts'
import { objectOf, objectsOf, type Params, scalarText, sharedOf } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad, sideChannel } from './route.ts'

/** What `dt` says of an event without a name, in the words of the API that followed. */
const TYPES: Params = {
  1: 'session_start',
  2: 'session_end',
  3: 'screen_view',
  4: 'custom_event',
  5: 'crash_report',
  6: 'opt_out',
  8: 'push_registration',
  10: 'application_state_transition',
  14: 'profile',
  16: 'commerce_event',
  20: 'media',
}

const BATCHES: Route = { path: /^\/v3\/JS\/[^/]+\/events$/i, read: readBatches }

export const mparticle: Decoder = {
  vendor: 'mParticle',
  source: 'https://docs.mparticle.com/developers/apis/http/',
  hosts: ['mparticle.com'],
  routes: [
    BATCHES,
    { path: /^\/v[0-2]\/JS\/[^/]+\/events$/i, read: readEvent },
    { path: /^\/v2\/(?:bulk)?events$/, read: readBatches },
    { path: /^\/v[12]\/[^/]+\/events$/i, read: readMessages },
    // Asks who the visitor is; a change is an event of its own in the next batch.
    { ...sideChannel(/^\/v1\/(?:\d+\/)?(?:identify|login|logout|modify|search)$/), when: isIdentity },
    // What was forwarded to others, settings, session replay, audiences.
    sideChannel(
      /^\/(?:v\d\/JS\/[^/]+\/(?:Forwarding|alias)|JS\/v2\/[^/]+\/config|v\d\/[^/]+\/(?:config|audience|alias))$/i,
    ),
    scriptLoad(/^\/js\/v\d\/(?<account>[^/]+)\/mparticle\.js$/),
    // Under the customer's own name: https://docs.mparticle.com/developers/client-sdks/web/cname-setup/
    { ...BATCHES, path: /\/v3\/JS\/\w{2}\d-[\da-f]{32}\/events$/i, anyHost: true },
  ],
}

function isIdentity({ host }: VendorRequest): boolean {
  return host.startsWith('identity.')
}

/** The key follows `JS/`; servers have theirs in a header. */
function accountOf(path: string): string | null {
  return /\/v\d\/JS\/([^/]+)\//i.exec(path)?.[1] ?? null
}

/** Batches of today: `{events: [{event_type, data}, …]}` */
function* readBatches({ path, body }: VendorRequest): Iterable<DecodedEvent> {
  const account = accountOf(path)
  for (const { events, ...rest } of readJsonObjects(body)) {
    const shared = sharedOf(rest)
    for (const event of objectsOf(events)) {
      const { event_name, screen_name, product_action, promotion_action } = objectOf(event.data)
      const action = objectOf(product_action).action ?? objectOf(promotion_action).action
      const name = event_name || screen_name || action || event.event_type
      yield { event: scalarText(name), account, params: { ...shared, ...event } }
    }
  }
}

/** One event a request. */
function readEvent(request: VendorRequest): DecodedEvent[] {
  const event = request.body === null ? {} : request.json
  const name = scalarText(event.n) || (TYPES[scalarText(event.dt)] ?? '')
  return [{ event: name, account: accountOf(request.path), params: event }]
}

/** The apps' batches: `{msgs: [{dt, n}, …]}` */
function* readMessages({ path, json }: VendorRequest): Iterable<DecodedEvent> {
  const account = path.split('/')[2] ?? null
  for (const message of objectsOf(json.msgs)) {
    yield { event: scalarText(message.n) || scalarText(message.dt), account, params: message }
  }
}
