import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { type EmbeddedParam, MAX_ENTRIES, withEmbedded } from './embedded-params.ts'
import { readJsonObjects } from './json.ts'
import { objectOf, objectsOf, type Params, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Codes of message types (`dt`) in the SDKs, with the names that the later API uses. App SDKs use letters instead of
 * numbers. https://github.com/mParticle/mparticle-web-sdk (src/types.ts),
 * https://github.com/mParticle/mparticle-android-sdk
 */
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
  17: 'user_attribute_change',
  18: 'user_identity_change',
  20: 'media',
  ss: 'session_start',
  se: 'session_end',
  v: 'screen_view',
  e: 'custom_event',
  x: 'crash_report',
  o: 'opt_out',
  pr: 'push_registration',
  ast: 'application_state_transition',
  pro: 'profile',
  cm: 'commerce_event',
  uac: 'user_attribute_change',
  uic: 'user_identity_change',
}

/** Event types in the order of their codes (`et`). The first code is 0. */
const EVENT_TYPES = [
  'unknown',
  'navigation',
  'location',
  'search',
  'transaction',
  'user_content',
  'user_preference',
  'social',
  'other',
  'media',
  'product_add_to_cart',
  'product_remove_from_cart',
  'product_checkout',
  'product_checkout_option',
  'product_click',
  'product_view_detail',
  'product_purchase',
  'product_refund',
  'promotion_view',
  'promotion_click',
  'product_add_to_wishlist',
  'product_remove_from_wishlist',
  'product_impression',
]

/** Identity types in the order of their codes in `ui`. The first code is 0. */
const IDENTITIES = [
  'other',
  'customerid',
  'facebook',
  'twitter',
  'google',
  'microsoft',
  'yahoo',
  'email',
  'facebookcustomaudienceid',
  'other2',
  'other3',
  'other4',
]

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
    // Requests the visitor's identity. If it changes, the next batch contains a separate event for the change.
    { ...sideChannel(/^\/v1\/(?:\d+\/)?(?:identify|login|logout|modify|search)$/), when: isIdentity },
    // Forwarded events, settings, session replay and audiences.
    sideChannel(
      /^\/(?:v\d\/JS\/[^/]+\/(?:Forwarding|alias)|JS\/v2\/[^/]+\/config|v\d\/[^/]+\/(?:config|audience|alias))$/i,
    ),
    scriptLoad(/^\/js\/v\d\/(?<account>[^/]+)\/mparticle\.js$/),
    // Requests to the customer's own host: https://docs.mparticle.com/developers/client-sdks/web/cname-setup/
    { ...BATCHES, path: /\/v3\/JS\/\w{2}\d-[\da-f]{32}\/events$/i, anyHost: true },
  ],
}

function isIdentity({ host }: VendorRequest): boolean {
  return host.startsWith('identity.')
}

/** Returns the key that follows `JS/` in the path. Servers send it in a header instead. */
function accountOf(path: string): string | null {
  return /\/v\d\/JS\/([^/]+)\//i.exec(path)?.[1] ?? null
}

/** The current batch format: `{events: [{event_type, data}, …]}` */
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

/** A single event per request. */
function readEvent(request: VendorRequest): DecodedEvent[] {
  const event = request.body === null ? {} : request.json
  const name = scalarText(event.n) || (wordOf(TYPES, event.dt) ?? '')
  return [{ event: name, account: accountOf(request.path), params: withEmbedded(event, wordsOf(event)) }]
}

/** Yields the names for a message's codes: `dt.name`, `et.name`, `ui.email`. */
function* wordsOf({ dt, et, ui }: Record<string, unknown>): Iterable<EmbeddedParam> {
  yield ['dt.name', wordOf(TYPES, dt)]
  yield ['et.name', wordOf(EVENT_TYPES, et)]
  for (const { Type, Identity } of objectsOf(ui).slice(0, MAX_ENTRIES)) {
    const kind = wordOf(IDENTITIES, Type)
    if (kind) yield [`ui.${kind}`, scalarText(Identity)]
  }
}

function wordOf(words: Params | readonly string[], code: unknown): string | undefined {
  const key = scalarText(code)
  return Object.hasOwn(words, key) ? (words as Params)[key] : undefined
}

/** Batches from app SDKs: `{msgs: [{dt, n}, …]}` */
function* readMessages({ path, json }: VendorRequest): Iterable<DecodedEvent> {
  const account = path.split('/')[2] ?? null
  for (const message of objectsOf(json.msgs)) {
    yield {
      event: scalarText(message.n) || scalarText(message.dt),
      account,
      params: withEmbedded(message, wordsOf(message)),
    }
  }
}
