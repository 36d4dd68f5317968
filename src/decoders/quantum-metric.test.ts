import { testDecoder } from './decoder-cases.ts'
import { quantumMetric } from './quantum-metric.ts'

const PAGE = 'T=B&u=https%3A%2F%2Fshop.example%2F&t=1700000000000&v=1700000000500'

// https://community.quantummetric.com/s/article/Content-Security-Policy
testDecoder(quantumMetric, [
  {
    name: 'a page',
    url: `https://ingest.quantummetric.com/horizon/shop?${PAGE}&z=1&Q=1&S=0&N=0`,
    body: '\u001f',
    account: 'shop',
    events: ['page_view'],
    params: { u: 'https://shop.example/' },
  },
  {
    name: "a page view on the customer's host",
    url: `https://shop-app.quantummetric.com/?${PAGE}`,
    account: 'shop',
    events: ['page_view'],
  },
  {
    name: 'a later part of the recording',
    url: `https://ingest.quantummetric.com/horizon/shop?${PAGE}&S=8953&N=36`,
    body: '\u001f',
    events: [],
  },
  { name: 'a request without events', url: 'https://rl.quantummetric.com/shop/hash-check', body: '[]', events: [] },
  {
    name: 'the library',
    url: 'https://cdn.quantummetric.com/qscripts/quantum-shop.js',
    account: 'shop',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.quantummetric.com/?T=B', events: null },
])
