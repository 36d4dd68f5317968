import { datadogRum } from './datadog-rum.ts'
import { testDecoder } from './decoder-cases.ts'

const application = { id: 'app-1' }
const lines = [
  { type: 'view', application, view: { url: 'https://shop.example/', action: { count: 1 } }, service: 'shop' },
  { type: 'action', application, action: { type: 'custom', target: { name: 'checkout' } }, context: { value: 42.5 } },
  { type: 'action', application, action: { type: 'click', target: { name: 'Buy' } } },
  { type: 'error', application, error: { message: 'cart is empty' } },
]
const batch = lines.map((line) => JSON.stringify(line)).join('\n')

// https://docs.datadoghq.com/real_user_monitoring/guide/proxy-rum-data/
testDecoder(datadogRum, [
  {
    name: 'a batch',
    url: 'https://browser-intake-datadoghq.eu/api/v2/rum?ddsource=browser&dd-api-key=pub1&dd-evp-origin=browser',
    body: batch,
    account: 'app-1',
    events: ['view', 'checkout', 'action', 'error'],
    params: { 'view.url': 'https://shop.example/', service: 'shop' },
  },
  {
    name: 'a batch through a proxy',
    url: `https://shop.example/rum?ddforward=${encodeURIComponent('/api/v2/rum?ddsource=browser&dd-api-key=pub1')}`,
    body: batch,
    account: 'app-1',
    events: ['view', 'checkout', 'action', 'error'],
  },
  {
    name: 'logs',
    url: 'https://logs.browser-intake-datadoghq.com/api/v2/logs?dd-api-key=pub1',
    body: '{"message":"cart is empty","status":"error"}\n{"message":"again"}',
    account: 'pub1',
    events: ['log', 'log'],
    params: { message: 'cart is empty' },
  },
  {
    name: 'an event in the old format',
    url: 'https://rum-http-intake.logs.datadoghq.com/v1/input/pub1?ddsource=browser',
    body: '{"type":"view","application":{"id":"app-1"}}',
    account: 'app-1',
    events: ['view'],
  },
  {
    name: 'a recording',
    url: 'https://browser-intake-datadoghq.com/api/v2/replay?dd-api-key=pub1',
    body: '--x',
    events: [],
  },
  {
    name: 'a recording through a proxy',
    url: `https://shop.example/rum?ddforward=${encodeURIComponent('/api/v2/replay?dd-api-key=pub1')}`,
    body: '--x',
    events: [],
  },
  {
    name: 'a malformed line',
    url: 'https://browser-intake-datadoghq.com/api/v2/rum?dd-api-key=pub1',
    body: `${batch}\n{"type":`,
    events: [],
    error: 'Datadog RUM: the body is not JSON',
  },
  {
    name: 'the library',
    url: 'https://www.datadoghq-browser-agent.com/eu1/v7/datadog-rum.js',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.datadoghq.com/product/', events: null },
])
