import type { Decoder } from './decoder.ts'
import { scalarOrNull, scalarText } from './params.ts'
import type { VendorRequest } from './request.ts'
import { pixel, scriptLoad, sideChannel } from './route.ts'

export const linkedinInsight: Decoder = {
  vendor: 'LinkedIn Insight',
  source: 'https://business.linkedin.com/marketing-solutions/insight-tag',
  hosts: ['ads.linkedin.com', 'snap.licdn.com'],
  routes: [
    pixel(/^\/collect\/?$/, {
      account: 'pid',
      // The pixel has no names; it tells conversions from page views by the id of the conversion.
      event: ({ conversionId }) => (conversionId ? 'conversion' : 'page_view'),
    }),
    { path: /^\/wa\/?$/, read: readSignal },
    // Repeats a conversion for the browser's attribution interface; who the visitor is; reports on the code itself.
    sideChannel(/^\/(?:attribution_trigger|db_sync|setuid|insight_tag_errors\.gif)$/),
    scriptLoad(/^\/li\.lms-analytics\//),
  ],
}

/** One signal for all the accounts on the page; the first one stands for them, all are in `pids.*`. */
function readSignal({ json }: VendorRequest) {
  const { pids, signalType } = json
  return [{ event: scalarText(signalType), account: scalarOrNull(Array.isArray(pids) ? pids[0] : pids), params: json }]
}
