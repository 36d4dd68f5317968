import type { DecodedEvent, Decoder } from './decoder.ts'
import { entriesOf, type Named, withNamed } from './named.ts'
import { type Params, readQuery, scalarOrNull } from './params.ts'
import type { VendorRequest } from './request.ts'
import { sideChannel } from './route.ts'

const MATCH = /^\/ibs:/

export const adobeAudienceManager: Decoder = {
  vendor: 'Adobe Audience Manager',
  source:
    'https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/api-and-sdk-code/dcs/dcs-api-reference/dcs-api-methods',
  hosts: ['demdex.net'],
  routes: [
    { path: /^\/event$/, read: readEvent },
    { path: MATCH, read: readMatch },
    // The same match again, after the browser was tested for cookies.
    sideChannel(/^\/(?:demconf\.jpg|firstevent)/),
    { path: /^\/dest\d\.html$|\.js$/, carries: 'library', read: readLibrary },
  ],
}

/** The customer is the name before the service's own; `dpm` stands for all of them. */
function customerOf(host: string): string | null {
  const customer = host.split('.').at(-3) ?? ''
  return customer === 'dpm' || customer === 'fast' ? null : scalarOrNull(customer)
}

/** `d_*` is the service's, `c_*` the page's. */
function readEvent({ host, fields }: VendorRequest): DecodedEvent[] {
  return [{ event: 'event', account: customerOf(host), params: withNamed(fields, declaredIds(fields)) }]
}

/**
 * `/ibs:dpid=411&dpuuid=u1`: who the visitor is elsewhere, written into the path, where a plus sign is no space.
 * https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/implementation-integration-guides/receiving-audience-data/id-sync-outbound
 */
function readMatch({ host, path, search }: VendorRequest): DecodedEvent[] {
  const inPath = path.replace(MATCH, '').replaceAll('+', '%2B')
  const sent = readQuery([inPath, search.slice(1)].join('&'))
  return [{ event: 'ibs', account: customerOf(host), params: withNamed(sent, declaredIds(sent)) }]
}

function readLibrary({ host, query }: VendorRequest): DecodedEvent[] {
  return [{ event: '', account: customerOf(host), kind: 'library', params: query }]
}

/**
 * `d_cid=<provider>%01<user>%01<state>`, once for each provider: `d_cid.<provider>` is the user. `d_cid_ic` has a code for
 * the provider. https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/reference/cid
 */
export function* declaredIds(fields: Params): Iterable<Named> {
  for (const key in fields) {
    const name = /^(d_cid(?:_ic)?)(?:\.\d+)?$/.exec(key)?.[1]
    if (name === undefined) continue
    const [provider, user, state] = entriesOf(fields[key], '\u0001')
    if (!provider || !user) continue
    yield [`${name}.${provider}`, user]
    yield [`${name}.${provider}.state`, state]
  }
}
