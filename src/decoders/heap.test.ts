import { testDecoder } from './decoder-cases.ts'
import { heap } from './heap.ts'

const H = 'https://heapanalytics.com/h?a=123456&u=1&v=2&s=3&b=web&tv=4.0'

// https://developers.heap.io/reference/track-1
testDecoder(heap, [
  {
    name: 'a page view',
    url: `${H}&h=%2Fcart&d=shop.example&t=Cart&ts=1`,
    account: '123456',
    events: ['pageview'],
    params: { h: '/cart', t: 'Cart' },
  },
  {
    name: 'page interactions',
    url: `${H}&t0=click&n0=button&x0=Buy&t1=change&n1=input`,
    account: '123456',
    events: ['click', 'change'],
    params: { x0: 'Buy' },
  },
  {
    name: "the visitor's identity",
    url: 'https://heapanalytics.com/api/identify_v2?a=123456&u=1&i=u1',
    account: '123456',
    events: ['identify'],
  },
  {
    name: 'a server event',
    url: 'https://c.eu.heap-api.com/api/track',
    body: '{"app_id":"123456","identity":"u1","event":"purchase","properties":{"value":42.5}}',
    account: '123456',
    events: ['purchase'],
    params: { 'properties.value': '42.5' },
  },
  {
    name: 'several server events',
    url: 'https://heapanalytics.com/api/track',
    body: '{"app_id":"123456","events":[{"event":"A"},{"event":"B"}]}',
    account: '123456',
    events: ['A', 'B'],
  },
  { name: 'a binary body', url: 'https://c.us.heap-api.com/api/capture/v2/track', body: '\u0001\u0002', events: [] },
  {
    name: 'the library',
    url: 'https://cdn.heapanalytics.com/js/heap-123456.js',
    account: '123456',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the settings with the library',
    url: 'https://cdn.us.heap-api.com/config/123456/heap_config.js',
    account: '123456',
    events: [''],
    kind: 'library',
  },
  { name: "the vendor's website", url: 'https://heap.io/', events: null },
])
