import { convert } from './convert.ts'
import { testDecoder } from './decoder-cases.ts'

const sent = {
  accountId: '1001',
  projectId: '2002',
  source: 'js-sdk',
  visitors: [
    {
      visitorId: 'v1',
      segments: { country: 'DE' },
      events: [
        { eventType: 'bucketing', data: { experienceId: '7', variationId: '8' } },
        { eventType: 'conversion', data: { goalId: '9', goalData: [{ key: 'amount', value: 42.5 }] } },
      ],
    },
  ],
}

// https://github.com/convertcom/javascript-sdk
testDecoder(convert, [
  {
    name: 'events',
    url: 'https://2002.metrics.convertexperiments.com/v1/track/1001/2002',
    body: JSON.stringify(sent),
    account: '1001-2002',
    events: ['bucketing', 'conversion'],
    params: { experienceId: '7', visitorId: 'v1', 'segments.country': 'DE' },
  },
  {
    name: 'a body that is not JSON',
    url: 'https://2002.metrics.convertexperiments.com/v1/track/1001/2002',
    body: 'x',
    events: [],
    error: 'Convert: the body is not JSON',
  },
  { name: 'a log', url: 'https://logs.convertexperiments.com/log', body: '{}', events: [] },
  {
    name: 'the library',
    url: 'https://cdn-4.convertexperiments.com/v1/js/1001-2002.js',
    account: '1001-2002',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the settings',
    url: 'https://cdn-4.convertexperiments.com/api/v1/config/1001/2002',
    account: '1001/2002',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.convert.com/track', events: null },
])
