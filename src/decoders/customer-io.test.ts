import { customerIo } from './customer-io.ts'
import { testDecoder } from './decoder-cases.ts'

const call = (fields: object) => JSON.stringify({ ...fields, writeKey: 'KEY1', anonymousId: 'a1' })

// https://docs.customer.io/integrations/api/track/
testDecoder(customerIo, [
  {
    name: 'a track call',
    url: 'https://cdp.customer.io/v1/t',
    body: call({ type: 'track', event: 'Order Completed', properties: { value: 42.5 } }),
    account: 'KEY1',
    events: ['Order Completed'],
    params: { 'properties.value': '42.5' },
  },
  {
    name: 'a batch in Europe',
    url: 'https://cdp-eu.customer.io/v1/batch',
    body: call({ batch: [{ type: 'page' }, { type: 'identify' }] }),
    account: 'KEY1',
    events: ['page', 'identify'],
  },
  {
    name: 'an event from the snippet',
    url: 'https://track.customer.io/events/page.gif?name=%2Fcart&s=SITE1',
    account: 'SITE1',
    events: ['/cart'],
  },
  {
    name: 'a server event',
    url: 'https://track.customer.io/api/v1/customers/u1/events',
    body: '{"name":"purchase","data":{"price":5}}',
    events: ['purchase'],
    params: { 'data.price': '5' },
  },
  {
    name: 'a server-side customer update',
    url: 'https://track-eu.customer.io/api/v1/customers/u1',
    body: '{"plan":"pro"}',
    events: ['identify'],
  },
  {
    name: 'a server batch',
    url: 'https://track.customer.io/api/v2/batch',
    body: JSON.stringify({
      batch: [
        { type: 'person', action: 'identify' },
        { action: 'event', name: 'purchase' },
      ],
    }),
    events: ['identify', 'purchase'],
  },
  { name: 'settings', url: 'https://cdp.customer.io/v1/projects/KEY1/settings', events: [] },
  {
    name: 'the library',
    url: 'https://cdp.customer.io/v1/analytics-js/snippet/KEY1/analytics.min.js',
    account: 'KEY1',
    events: [''],
    kind: 'library',
  },
  { name: "the snippet's script", url: 'https://assets.customer.io/assets/track.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://customer.io/v1/t', events: null },
])
