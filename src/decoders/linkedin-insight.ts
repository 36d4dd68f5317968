import type { DecodedEvent, Decoder } from './decoder.ts'
import { type EmbeddedParam, entriesOf, withEmbedded } from './embedded-params.ts'
import { objectsIn } from './json.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const linkedinInsight: Decoder = {
  vendor: 'LinkedIn Insight',
  source: 'https://business.linkedin.com/marketing-solutions/insight-tag',
  hosts: ['ads.linkedin.com', 'snap.licdn.com', 'api.linkedin.com'],
  routes: [
    { path: /^\/collect\/?$/, read: readPixel },
    { path: /^\/wa\/?$/, read: readSignal },
    { path: /^\/(?:rest|v2)\/conversionEvents\/?$/, read: readServerEvents },
    // Repeats a conversion for the browser's attribution API, identity sync, reports about the code itself.
    sideChannel(/^\/(?:attribution_trigger|db_sync|setuid|insight_tag_errors\.gif)$/),
    scriptLoad(/^\/li\.lms-analytics\//),
  ],
}

/**
 * The pixel has no event names. A conversion id distinguishes conversions from page views. As in a signal, the first
 * account on the page is used.
 */
function readPixel({ fields }: VendorRequest): DecodedEvent[] {
  const pids = entriesOf(fields.pid, ',')
  const params = withEmbedded(
    fields,
    pids.length > 1 ? pids.map((pid, index): EmbeddedParam => [`pids.${index}`, pid]) : [],
  )
  return [{ event: fields.conversionId ? 'conversion' : 'page_view', account: scalarOrNull(pids[0]), params }]
}

/** One signal for all accounts on the page. The first is used as the account; all are in `pids.*`. */
function readSignal({ json }: VendorRequest) {
  const { pids, signalType } = json
  return [{ event: scalarText(signalType), account: scalarOrNull(Array.isArray(pids) ? pids[0] : pids), params: json }]
}

/**
 * https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api: one conversion, or
 * `{elements: [conversion, …]}`. Like the pixel's conversions, they are identified by the conversion id. The request
 * contains no account.
 */
function* readServerEvents(request: VendorRequest): Iterable<DecodedEvent> {
  if (request.body === null) return
  const { json } = request
  for (const sent of objectsIn(json.elements ?? json)) yield { event: 'conversion', account: null, params: sent }
}
