import { type DecoderCase, testDecoder } from './decoder-cases.ts'
import { segment } from './segment.ts'

const API = 'https://api.segment.io/v1'
const call = (fields: object) => JSON.stringify({ writeKey: 'KEY1', anonymousId: 'a1', ...fields })

const kinds: [path: string, fields: object, event: string][] = [
  ['track', { event: 'Order Completed' }, 'Order Completed'],
  ['t', { type: 'track', event: 'Order Completed' }, 'Order Completed'],
  ['p', { name: 'Home' }, 'page'],
  ['i', {}, 'identify'],
  ['g', {}, 'group'],
  ['a', {}, 'alias'],
  ['s', { type: 'screen', name: 'Basket' }, 'screen'],
]

// https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/
testDecoder(segment, [
  ...kinds.map(
    ([path, fields, event]): DecoderCase => ({
      name: `/v1/${path}`,
      url: `${API}/${path}`,
      body: call(fields),
      account: 'KEY1',
      events: [event],
    }),
  ),
  {
    name: 'nested parameters and the page URL',
    url: `${API}/t`,
    body: call({
      type: 'track',
      event: 'Order Completed',
      properties: { total: 5.5, gift: false, products: [{ sku: 'S1' }] },
      context: { page: { url: 'https://shop.example/thanks' } },
    }),
    account: 'KEY1',
    events: ['Order Completed'],
    params: {
      'properties.total': '5.5',
      'properties.gift': 'false',
      'properties.products.0.sku': 'S1',
      'context.page.url': 'https://shop.example/thanks',
    },
  },
  {
    name: 'a batch, without its invalid calls',
    url: 'https://events.eu1.segmentapis.com/v1/batch',
    body: JSON.stringify({
      writeKey: 'KEY1',
      batch: [{ type: 'track', event: 'A', userId: 'u1' }, { type: 'page' }, 7, { type: 'identify', writeKey: 'KEY2' }],
    }),
    account: 'KEY1',
    events: ['A', 'page', 'identify'],
    params: { userId: 'u1', writeKey: 'KEY1' },
    without: ['batch'],
  },
  {
    // https://segment.com/docs/connections/sources/catalog/libraries/server/pixel-tracking-api/
    name: 'the pixel with encoded data',
    url: `${API}/pixel/track?data=${btoa(call({ event: 'Email Opened' }))}`,
    account: 'KEY1',
    events: ['Email Opened'],
    params: { anonymousId: 'a1' },
  },
  {
    name: 'the pixel with plain data',
    url: `${API}/pixel/track?userId=u1&event=Email%20Opened&properties.subject=News&writeKey=KEY1`,
    account: 'KEY1',
    events: ['Email Opened'],
    params: { 'properties.subject': 'News' },
  },
  { name: 'library counters', url: `${API}/m`, body: '{"series":[]}', events: [] },
  {
    name: 'the library',
    url: 'https://cdn.segment.com/analytics.js/v1/KEY1/analytics.min.js',
    account: 'KEY1',
    events: [''],
    kind: 'library',
  },
  { name: 'settings', url: 'https://cdn.segment.com/v1/projects/KEY1/settings', events: [] },
  {
    name: "on the customer's host",
    url: 'https://seg.shop.example/v1/t',
    body: call({ type: 'track', event: 'A', context: { library: { name: 'analytics.js', version: 'next-1.84.3' } } }),
    account: 'KEY1',
    events: ['A'],
  },
  {
    name: "the library on the customer's host",
    url: 'https://seg.shop.example/analytics.js/v1/0123456789abcdefghijABCDEFGHIJKL/analytics.min.js',
    account: '0123456789abcdefghijABCDEFGHIJKL',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a vendor with a compatible API',
    url: 'https://dataplane.other.example/v1/track',
    body: call({}),
    events: null,
  },
])
