import type { DecodedEvent, Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Meanings of the abbreviations in `t`: https://github.com/attentive-mobile/attentive-android-sdk */
const TYPES = new Map([
  ['p', 'Purchase'],
  ['oc', 'OrderConfirmed'],
  ['d', 'ProductView'],
  ['c', 'AddToCart'],
  ['idn', 'UserIdentifierCollected'],
  ['i', 'Info'],
  ['ce', 'CustomEvent'],
])

/** The account is the company name that the tag's URL contains. */
export const attentive: Decoder = {
  vendor: 'Attentive',
  source: 'https://docs.attentive.com/pages/developer-guides/sdks/attentive-tag-sdk',
  hosts: ['attentivemobile.com', 'attn.tv'],
  routes: [
    { path: /^\/e$/, read: readEvent },
    { path: /^\/mobile$/, read: readAppEvent },
    scriptLoad(/^\/(?<account>[\w-]+)\/[\w-]+\.js$/),
    // Sign-up forms to display, and requests for the visitor id.
    { ...sideChannel(/^\//), when: ({ host }) => /^(?:creatives|[\w-]+-us)\.|^mobile\./.test(host) },
  ],
}

/** `t` is the event type. `m` contains the event's data as JSON. */
function readEvent({ fields }: VendorRequest): DecodedEvent[] {
  const { t = '', c, a } = fields
  const metadata = unfolded(fields.m)
  const named = t === 'ce' ? scalarText(objectOf(metadata).type) : ''
  return [{ event: named || (TYPES.get(t) ?? t), account: scalarOrNull(c ?? a), params: { ...fields, m: metadata } }]
}

/** Events from apps. `d` contains the whole event as JSON. */
function readAppEvent({ fields }: VendorRequest): DecodedEvent[] {
  const sent = objectOf(unfolded(fields.d))
  return [{ event: scalarText(sent.eventType), account: scalarOrNull(sent.attentiveDomain), params: sent }]
}
