import { testDecoder } from './decoder-cases.ts'
import { trustpilot } from './trustpilot.ts'

// https://support.trustpilot.com/hc/en-us/articles/203840826
testDecoder(trustpilot, [
  {
    name: 'a displayed widget',
    url: 'https://widget.trustpilot.com/stats/TrustboxImpression?locale=en-US&url=https%3A%2F%2Fshop.example%2F&businessUnitId=abc123',
    account: 'abc123',
    events: ['TrustboxImpression'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'an invitation',
    url: 'https://invitejs.trustpilot.com/api/invitation',
    body: JSON.stringify({ key: 'k-1', recipientEmail: 'jane@shop.example', referenceId: 'A-1001' }),
    account: 'k-1',
    events: ['invitation'],
    params: { referenceId: 'A-1001' },
  },
  {
    name: 'the library',
    url: 'https://widget.trustpilot.com/bootstrap/v5/tp.widget.bootstrap.min.js',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the displayed content',
    url: 'https://widget.trustpilot.com/trustbox-data/1?businessUnitId=abc123',
    events: [],
  },
  { name: "the vendor's website", url: 'https://www.trustpilot.com/review/shop.example', events: null },
])
