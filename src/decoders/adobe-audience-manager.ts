import type { DecodedEvent, Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf, withEmbedded } from './embedded-params.ts'
import { type Params, readQuery, scalarOrNull } from './params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const MATCH = /^\/ibs:/

export const adobeAudienceManager: Decoder = {
  vendor: 'Adobe Audience Manager',
  source:
    'https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/api-and-sdk-code/dcs/dcs-api-reference/dcs-api-methods',
  hosts: ['demdex.net'],
  routes: [
    { path: /^\/event$/, read: readEvent },
    { path: MATCH, read: readMatch },
    // The same match, sent again after testing whether the browser accepts cookies.
    sideChannel(/^\/(?:demconf\.jpg|firstevent)/),
    { path: /^\/dest\d\.html$|\.js$/, carries: 'library', read: readLibrary },
  ],
}

/** Returns the customer, which is the label before the vendor's own domain. All customers share `dpm`. */
function customerOf(host: string): string | null {
  const customer = host.split('.').at(-3) ?? ''
  return customer === 'dpm' || customer === 'fast' ? null : scalarOrNull(customer)
}

/** The vendor sets the `d_*` parameters, the page sets the `c_*` parameters. */
function readEvent({ host, fields }: VendorRequest): DecodedEvent[] {
  return [{ event: 'event', account: customerOf(host), params: withEmbedded(fields, declaredIds(fields)) }]
}

/**
 * `/ibs:dpid=411&dpuuid=u1`: an identity sync in the path, where a plus sign does not mean a space.
 * https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/implementation-integration-guides/receiving-audience-data/id-sync-outbound
 */
function readMatch({ host, path, search }: VendorRequest): DecodedEvent[] {
  const inPath = path.replace(MATCH, '').replaceAll('+', '%2B')
  const sent = readQuery([inPath, search.slice(1)].join('&'))
  return [{ event: 'ibs', account: customerOf(host), params: withEmbedded(sent, declaredIds(sent)) }]
}

function readLibrary({ host, query }: VendorRequest): DecodedEvent[] {
  return [{ event: '', account: customerOf(host), kind: 'library', params: query }]
}

/**
 * `d_cid=<provider>%01<user>%01<state>`, once for each provider: `d_cid.<provider>` is the user's id. `d_cid_ic` uses a
 * code for the provider. https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/reference/cid
 */
export function* declaredIds(fields: Params): Iterable<EmbeddedParam> {
  for (const key in fields) {
    const name = /^(d_cid(?:_ic)?)(?:\.\d+)?$/.exec(key)?.[1]
    if (name === undefined) continue
    const [provider, user, state] = entriesOf(fields[key], '\u0001')
    if (!provider || !user) continue
    yield [`${name}.${provider}`, user]
    yield [`${name}.${provider}.state`, state]
  }
}
