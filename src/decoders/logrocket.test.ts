import { testDecoder } from './decoder-cases.ts'
import { logRocket } from './logrocket.ts'

// https://docs.logrocket.com/reference/content-security-policy
testDecoder(logRocket, [
  {
    name: 'a recording',
    url: 'https://r.intake-lr.com/i?a=acme%2Fshop&r=6-0001&t=0002&s=0&rs=0%2Cu&u=0003&is=1',
    body: '\u0001',
    account: 'acme/shop',
    events: ['session'],
    params: { r: '6-0001' },
  },
  {
    name: 'a later part of the recording',
    url: 'https://r.lr-in-prod.com/i?a=acme%2Fshop&r=6-0001&s=1',
    body: '\u0001',
    events: [],
  },
  { name: 'the library', url: 'https://cdn.logr-in.com/logger-1.min.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://logrocket.com/i?a=1', events: null },
])
