import { testDecoder } from './decoder-cases.ts'
import { rudderstack } from './rudderstack.ts'

const context = { library: { name: 'RudderLabs JavaScript SDK', version: '3.1.0' } }
const call = (fields: object) => JSON.stringify({ ...fields, anonymousId: 'a1', context })

// https://www.rudderstack.com/docs/api/http-api/
testDecoder(rudderstack, [
  {
    name: 'a track call',
    url: 'https://shop.dataplane.rudderstack.com/v1/track',
    body: call({ type: 'track', event: 'Order Completed', properties: { total: 5.5 } }),
    events: ['Order Completed'],
    params: { 'properties.total': '5.5' },
  },
  {
    name: 'a page call',
    url: 'https://shop.dataplane.rudderstack.com/v1/page',
    body: call({ type: 'page', name: 'Home' }),
    events: ['page'],
  },
  {
    name: "on the customer's host",
    url: 'https://rs.shop.example/v1/identify',
    body: call({ type: 'identify', userId: 'u1' }),
    events: ['identify'],
  },
  {
    name: 'a beacon under a prefix',
    url: 'https://shop.example/rs/beacon/v1/batch?writeKey=KEY1',
    body: JSON.stringify({ batch: [{ type: 'page' }, { type: 'track', event: 'A' }], sentAt: 'x' }),
    account: 'KEY1',
    events: ['page', 'A'],
  },
  {
    name: 'a pixel',
    url: 'https://hosted.rudderlabs.com/pixel/v1/track?writeKey=KEY1&event=Email+Opened&anonymousId=a1',
    account: 'KEY1',
    events: ['Email Opened'],
  },
  { name: 'settings', url: 'https://api.rudderstack.com/sourceConfig/?writeKey=KEY1&v=3.1.0', events: [] },
  { name: 'the library', url: 'https://cdn.rudderlabs.com/v3/modern/rsa.min.js', events: [''], kind: 'library' },
  {
    name: 'the legacy library',
    url: 'https://cdn.rudderlabs.com/v1.1/rudder-analytics.min.js',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://shop.dataplane.rudderstack.com/v1/track',
    body: '{',
    events: [],
    error: 'RudderStack: the body is not JSON',
  },
  { name: 'a vendor with a compatible API', url: 'https://shop.example/v1/track', body: '{"event":"A"}', events: null },
])
