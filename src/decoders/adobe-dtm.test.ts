import { adobeDtm } from './adobe-dtm.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/analytics/implementation/prepare/dtm
testDecoder(adobeDtm, [
  {
    name: 'a library',
    url: 'https://assets.adobedtm.com/abc123/satelliteLib-0123abcd-staging.js',
    account: '0123abcd',
    events: [''],
    kind: 'library',
    params: { environment: 'staging' },
  },
  {
    name: "a library on the shop's host",
    url: 'https://static.shop.example/dtm/satelliteLib-0123abcd.js?v=1',
    account: '0123abcd',
    events: [''],
    kind: 'library',
    params: { environment: 'production' },
  },
  { name: 'a rule', url: 'https://assets.adobedtm.com/abc123/scripts/satellite-5a0e.js', events: [] },
  { name: 'the successor product', url: 'https://assets.adobedtm.com/launch-EN0123abcd.min.js', events: null },
])
