import { testDecoder } from './decoder-cases.ts'
import { simpleAnalytics } from './simple-analytics.ts'

const QUEUE = 'https://queue.simpleanalyticscdn.com'

// https://docs.simpleanalytics.com/events/server-side
testDecoder(simpleAnalytics, [
  {
    name: 'a page view',
    url: `${QUEUE}/simple.gif?version=11&hostname=shop.example&path=%2Fcart&type=pageview`,
    account: 'shop.example',
    events: ['pageview'],
    params: { path: '/cart' },
  },
  {
    name: 'an event',
    url: `${QUEUE}/simple.gif?hostname=shop.example&type=event&event=purchase`,
    account: 'shop.example',
    events: ['purchase'],
  },
  {
    name: 'a server event',
    url: `${QUEUE}/events`,
    body: '{"type":"event","hostname":"shop.example","event":"purchase","metadata":{"value":42.5}}',
    account: 'shop.example',
    events: ['purchase'],
    params: { 'metadata.value': '42.5' },
  },
  {
    name: "through the customer's domain",
    url: 'https://sa.shop.example/simple.gif?hostname=shop.example&type=pageview',
    account: 'shop.example',
    events: ['pageview'],
  },
  {
    name: 'a page view without the script',
    url: `${QUEUE}/noscript.gif?hostname=shop.example`,
    account: 'shop.example',
    events: ['pageview'],
  },
  { name: 'the visit duration', url: `${QUEUE}/append`, body: '{"type":"append","duration":5}', events: [] },
  { name: 'the library', url: 'https://scripts.simpleanalyticscdn.com/latest.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.simpleanalytics.com/', events: null },
])
