import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { type EmbeddedParam, entriesOf, withEmbedded } from './embedded-params.ts'
import { objectsIn } from './json.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://business.linkedin.com/marketing-solutions/insight-tag',
    meanings: {
      pid: ['identifier', 'Partner IDs of the accounts on the page'],
      'pids.#': ['identifier', 'Partner ID of an account'],
      conversionId: ['identifier', 'ID of the conversion'],
      url: ['url', 'Address of the page'],
      time: ['time', 'Time of the event, in milliseconds since 1970'],
    },
  },
  {
    url: 'https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api',
    meanings: {
      conversion: ['identifier', 'URN of the conversion rule'],
      conversionHappenedAt: ['time', 'Time of the conversion, in milliseconds since 1970'],
      'conversionValue.amount': ['amount', 'Value of the conversion'],
      'conversionValue.currencyCode': ['code', 'Currency of the value (ISO 4217)'],
      eventId: ['identifier', 'Event ID, by which a copy from a browser is recognized'],
      'user.userIds.#.idType': ['code', 'Kind of the visitor’s ID, such as SHA256_EMAIL'],
      'user.userIds.#.idValue': ['identifier', 'ID of the visitor'],
      'user.userInfo.firstName': ['text', 'First name of the visitor'],
      'user.userInfo.lastName': ['text', 'Last name of the visitor'],
      'user.userInfo.companyName': ['text', 'Company of the visitor'],
      'user.userInfo.title': ['text', 'Job title of the visitor'],
      'user.userInfo.countryCode': ['code', 'Country of the visitor'],
    },
  },
]

export const linkedinInsight: Decoder = {
  vendor: 'LinkedIn Insight',
  source: 'https://business.linkedin.com/marketing-solutions/insight-tag',
  keys: KEYS,
  hosts: ['ads.linkedin.com', 'snap.licdn.com', 'api.linkedin.com'],
  routes: [
    { path: /^\/collect\/?$/, read: readPixel },
    { path: /^\/wa\/?$/, read: readSignal },
    { path: /^\/(?:rest|v2)\/conversionEvents\/?$/, read: readServerEvents },
    // A repeated conversion for the browser's attribution API, identity sync, and reports on the vendor's own
    // code.
    sideChannel(/^\/(?:attribution_trigger|db_sync|setuid|insight_tag_errors\.gif)$/),
    scriptLoad(/^\/li\.lms-analytics\//),
  ],
}

/**
 * The pixel has no event names. Conversions differ from page views in having a conversion id. As in a signal, the
 * account is the first one on the page.
 */
function readPixel({ fields }: VendorRequest): DecodedEvent[] {
  const pids = entriesOf(fields.pid, ',')
  const params = withEmbedded(
    fields,
    pids.length > 1 ? pids.map((pid, index): EmbeddedParam => [`pids.${index}`, pid]) : [],
  )
  return [{ event: fields.conversionId ? 'conversion' : 'page_view', account: scalarOrNull(pids[0]), params }]
}

/** A single signal for all accounts on the page. The account is the first of them; `pids.*` contains all. */
function readSignal({ json }: VendorRequest) {
  const { pids, signalType } = json
  return [{ event: scalarText(signalType), account: scalarOrNull(Array.isArray(pids) ? pids[0] : pids), params: json }]
}

/**
 * https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api: one conversion, or
 * `{elements: [conversion, …]}`. As in the pixel, a conversion is identified by its conversion id. The request contains
 * no account.
 */
function* readServerEvents(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  const { json } = request
  for (const sent of objectsIn(json.elements ?? json)) yield { event: 'conversion', account: null, params: sent }
}
