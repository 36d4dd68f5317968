import { testDecoder } from './decoder-cases.ts'
import { tealiumEventstream } from './tealium-eventstream.ts'

const COLLECT = 'https://collect.tealiumiq.com'
const sent = { tealium_account: 'shop', tealium_profile: 'main', tealium_event: 'purchase', order_total: 42.5 }

// https://docs.tealium.com/platforms/http-api/
testDecoder(tealiumEventstream, [
  {
    name: 'an event',
    url: `${COLLECT}/event`,
    body: JSON.stringify(sent),
    account: 'shop/main',
    events: ['purchase'],
    params: { order_total: '42.5' },
  },
  {
    name: 'an event in the query',
    url: 'https://collect-eu-central-1.tealiumiq.com/event?tealium_account=shop&tealium_profile=main&tealium_event=view',
    account: 'shop/main',
    events: ['view'],
  },
  {
    name: 'several events',
    url: `${COLLECT}/bulk-event`,
    body: JSON.stringify({
      shared: { tealium_account: 'shop', tealium_profile: 'main' },
      events: [{ tealium_event: 'view' }, { tealium_event: 'purchase' }],
    }),
    account: 'shop/main',
    events: ['view', 'purchase'],
  },
  {
    name: 'an event from a page',
    url: `${COLLECT}/shop/main/2/i.gif`,
    body: [
      '--b',
      'Content-Disposition: form-data; name="data"',
      '',
      JSON.stringify({ data: { tealium_event: 'cart_view', page_name: 'Cart' }, event: 'view' }),
      '--b--',
      '',
    ].join('\r\n'),
    account: 'shop/main',
    events: ['cart_view'],
    params: { event: 'view', 'data.page_name': 'Cart' },
  },
  {
    name: 'an event from a page by image request',
    url: `${COLLECT}/shop/main/2/i.gif?data=${encodeURIComponent('{"data":{"page_name":"Cart"},"event":"link"}')}`,
    account: 'shop/main',
    events: ['link'],
  },
  {
    name: "on the customer's host",
    url: 'https://collect.shop.example/event',
    body: JSON.stringify(sent),
    account: 'shop/main',
    events: ['purchase'],
  },
  { name: "the visitor's identity", url: 'https://datacloud.tealiumiq.com/shop/main/16/i.js?jsonp=a', events: [] },
  {
    name: 'a malformed body',
    url: `${COLLECT}/event`,
    body: '{',
    events: [],
    error: 'Tealium EventStream: the body is not JSON',
  },
  { name: 'an unrelated API', url: 'https://shop.example/event', body: '{"event":"a"}', events: null },
])
