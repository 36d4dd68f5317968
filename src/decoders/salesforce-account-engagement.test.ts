import { testDecoder } from './decoder-cases.ts'
import { salesforceAccountEngagement } from './salesforce-account-engagement.ts'

const PAGE = 'ver=3&visitor_id=7&campaign_id=8&account_id=1101&title=Home&url=https%3A%2F%2Fshop.example%2F'

// https://help.salesforce.com/s/articleView?id=sf.pardot_web_tracking_code.htm
testDecoder(salesforceAccountEngagement, [
  {
    name: 'a page',
    url: `https://pi.pardot.com/analytics?${PAGE}`,
    account: '1101',
    events: ['page_view'],
    params: { url: 'https://shop.example/', campaign_id: '8' },
  },
  {
    name: "a page view on the customer's host",
    url: `https://go.shop.example/analytics?${PAGE}`,
    account: '1101',
    events: ['page_view'],
  },
  { name: 'the library', url: 'https://pi.pardot.com/pd.js', kind: 'library', events: [''] },
  { name: 'the same path on another site', url: 'https://shop.example/analytics?account_id=1', events: null },
  { name: "the vendor's app", url: 'https://pi.pardot.com/analytics', events: null },
])
