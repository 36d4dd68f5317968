import { testDecoder } from './decoder-cases.ts'
import { posthog } from './posthog.ts'

const E = 'https://us.i.posthog.com/e/?ip=0&_=1795151773351&ver=1.200.0'
const event = { event: '$pageview', properties: { token: 'phc_1', $current_url: 'https://shop.example/' } }
const order = { event: 'Order', properties: { token: 'phc_1', value: 42.5 } }

// https://posthog.com/docs/api/capture
testDecoder(posthog, [
  {
    name: 'an event',
    url: E,
    body: JSON.stringify(event),
    account: 'phc_1',
    events: ['$pageview'],
    params: { 'properties.$current_url': 'https://shop.example/' },
  },
  {
    name: 'several events',
    url: E,
    body: JSON.stringify([event, order]),
    account: 'phc_1',
    events: ['$pageview', 'Order'],
  },
  {
    name: 'an event in base64',
    url: `${E}&compression=base64`,
    body: `data=${encodeURIComponent(btoa(JSON.stringify([order])))}`,
    account: 'phc_1',
    events: ['Order'],
    params: { 'properties.value': '42.5' },
  },
  {
    name: 'an event in base64, in the legacy query',
    url: `https://app.posthog.com/e/?data=${btoa(JSON.stringify(order))}`,
    account: 'phc_1',
    events: ['Order'],
  },
  {
    name: 'an event in the legacy compression',
    url: 'https://app.posthog.com/e/?compression=lz64',
    body: 'data=NobwRApgbhB2AuYBcYDyAnAJhdYA0YADugPaE7wCWEAzsuPCQNZzJEAWAxgPoCMYAXwEBdIA',
    account: 'phc_1',
    events: ['Order'],
  },
  {
    name: 'a batch from a server',
    url: 'https://eu.i.posthog.com/batch/',
    body: JSON.stringify({ api_key: 'phc_1', batch: [{ event: 'A', distinct_id: 'u1' }, { event: 'B' }] }),
    account: 'phc_1',
    events: ['A', 'B'],
    params: { distinct_id: 'u1' },
    without: ['batch'],
  },
  {
    name: 'a single server event',
    url: 'https://eu.i.posthog.com/i/v0/e/',
    body: JSON.stringify({ api_key: 'phc_1', event: 'A', distinct_id: 'u1' }),
    account: 'phc_1',
    events: ['A'],
  },
  {
    name: 'an event through a proxy',
    url: 'https://shop.example/ingest/e/?ip=0&_=1&ver=1.200.0&compression=gzip-js',
    body: JSON.stringify([order]),
    account: 'phc_1',
    events: ['Order'],
  },
  {
    name: 'feature flags through a proxy',
    url: 'https://shop.example/ingest/flags/?v=2&ip=0&_=1790000000000&ver=1.200.0&compression=base64',
    body: 'data=e30%3D',
    events: [],
  },
  { name: 'feature flags', url: 'https://us.i.posthog.com/decide/?v=3', body: 'data=e30%3D', events: [] },
  { name: 'session replay', url: 'https://us.i.posthog.com/s/?ver=1.200.0', body: '[]', events: [] },
  { name: 'settings', url: 'https://us-assets.i.posthog.com/array/phc_1/config.js', events: [] },
  {
    name: 'the library with a key',
    url: 'https://us-assets.i.posthog.com/array/phc_1/array.js',
    account: 'phc_1',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the library through a proxy',
    url: 'https://shop.example/ingest/static/array.js',
    events: [''],
    kind: 'library',
  },
  { name: 'a malformed body', url: E, body: '[{', events: [], error: 'PostHog: the body is not JSON' },
  { name: 'an unrelated collector', url: 'https://shop.example/e/?ip=0', body: '{}', events: null },
])
