import { braze } from './braze.ts'
import { testDecoder } from './decoder-cases.ts'

const sent = (events: object[]) =>
  JSON.stringify({
    respond_with: { triggers: true },
    events,
    device: { browser: 'Chrome' },
    api_key: 'key-1',
    sdk_version: '6.13.0',
    device_id: 'd1',
  })

// https://www.braze.com/docs/developer_guide/sdk_integration/
testDecoder(braze, [
  {
    name: 'a session, a page event and a purchase',
    url: 'https://sdk.iad-03.braze.com/api/v3/data/',
    body: sent([
      { name: 'ss', time: 1, data: {}, user_id: 'u1' },
      { name: 'ce', time: 2, data: { n: 'checkout', p: { value: 42.5 } } },
      { name: 'p', time: 3, data: { pid: 'SKU1', c: 'EUR', p: '20.00', q: 1 } },
    ]),
    account: 'key-1',
    events: ['ss', 'checkout', 'p'],
    params: { user_id: 'u1', 'device.browser': 'Chrome' },
    without: ['respond_with.triggers'],
  },
  {
    name: "through the customer's host",
    url: 'https://braze.shop.example/api/v3/data/',
    body: sent([{ name: 'ce', data: { n: 'checkout' } }]),
    account: 'key-1',
    events: ['checkout'],
    params: { 'data.n': 'checkout' },
  },
  { name: 'an empty batch', url: 'https://sdk.fra-01.braze.eu/api/v3/data/', body: sent([]), events: [] },
  {
    name: 'a server call',
    url: 'https://rest.iad-01.braze.com/users/track',
    body: JSON.stringify({
      events: [{ external_id: 'u1', name: 'checkout' }],
      purchases: [{ external_id: 'u1', product_id: 'SKU1', price: 20 }],
    }),
    events: ['checkout', 'purchase'],
    params: { external_id: 'u1' },
  },
  { name: 'cards', url: 'https://sdk.iad-03.braze.com/api/v3/content_cards/sync', body: '{}', events: [] },
  {
    name: 'a body that is not JSON',
    url: 'https://sdk.iad-03.braze.com/api/v3/data/',
    body: 'x',
    events: [],
    error: 'Braze: the body is not JSON',
  },
  {
    name: 'the library',
    url: 'https://js.appboycdn.com/web-sdk/6.13/braze.min.js',
    kind: 'library',
    events: [''],
  },
  { name: 'the same path on another site', url: 'https://shop.example/api/v3/data', body: '{}', events: null },
  { name: "the vendor's website", url: 'https://www.braze.com/docs/', events: null },
])
