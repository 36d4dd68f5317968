import { testDecoder } from './decoder-cases.ts'
import { googleOptimize } from './google-optimize.ts'

// https://support.google.com/optimize/answer/12979939
testDecoder(googleOptimize, [
  {
    name: 'a container',
    url: 'https://www.googleoptimize.com/optimize.js?id=OPT-ABC123',
    account: 'OPT-ABC123',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a container on the Analytics host',
    url: 'https://www.google-analytics.com/gtm/js?id=GTM-ABC123&cid=1.2',
    account: 'GTM-ABC123',
    events: [''],
    kind: 'library',
  },
  { name: 'Analytics', url: 'https://www.google-analytics.com/analytics.js', events: null },
])
