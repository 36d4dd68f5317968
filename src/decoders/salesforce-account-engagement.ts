import type { Decoder, Route } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const PAGE: Route = pixel(/^\/analytics$/, { account: 'account_id', event: () => 'page_view' })

/** Formerly Pardot. The account number in requests is 1,000 higher than the one shown in the settings. */
export const salesforceAccountEngagement: Decoder = {
  vendor: 'Salesforce Account Engagement',
  source: 'https://help.salesforce.com/s/articleView?id=sf.pardot_web_tracking_code.htm',
  hosts: ['pardot.com'],
  routes: [
    { ...PAGE, when: ({ query }) => 'account_id' in query },
    scriptLoad(/^\/pd\.js$/),
    {
      ...PAGE,
      anyHost: true,
      mark: /^(?=.*[?&]account_id=)(?=.*[?&]campaign_id=).*[?&](?:visitor_id|pi_opt_in)=/,
      when: isPageOfOwnHost,
    },
  ],
}

/**
 * True for a page view sent to the customer's own host. The account and the campaign alone are not sufficient, because
 * a report on the customer's site could have the same parameters.
 */
function isPageOfOwnHost({ query }: VendorRequest): boolean {
  return 'account_id' in query && 'campaign_id' in query && ('visitor_id' in query || 'pi_opt_in' in query)
}
