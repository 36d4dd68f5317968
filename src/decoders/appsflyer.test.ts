import { appsflyer } from './appsflyer.ts'
import { testDecoder } from './decoder-cases.ts'

const EVENTS = 'https://wa.appsflyer.com/events?site-id=site-1'

// https://dev.appsflyer.com/
testDecoder(appsflyer, [
  {
    name: 'a page view',
    url: EVENTS,
    body: '{"data":{"eventType":"LOAD","webAppId":"site-1"},"meta":{"locationHref":"https://shop.example/"}}',
    account: 'site-1',
    events: ['LOAD'],
    params: { 'meta.locationHref': 'https://shop.example/' },
  },
  {
    name: 'an event',
    url: EVENTS,
    body: '{"data":{"eventType":"EVENT","eventName":"purchase","eventRevenue":42.5}}',
    account: 'site-1',
    events: ['purchase'],
  },
  {
    name: 'the library',
    url: 'https://websdk.appsflyer.com/?st=pba&af_id=site-1',
    account: 'site-1',
    events: [''],
    kind: 'library',
  },
  { name: 'a malformed body', url: EVENTS, body: '{', events: [], error: 'AppsFlyer: the body is not JSON' },
  { name: "the vendor's website", url: 'https://www.appsflyer.com/events', events: null },
])
