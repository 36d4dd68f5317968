import { testDecoder } from './decoder-cases.ts'
import { plausible } from './plausible.ts'

const view = JSON.stringify({ n: 'pageview', u: 'https://shop.example/', d: 'shop.example', r: null, w: 1280 })

// https://plausible.io/docs/events-api
testDecoder(plausible, [
  {
    name: 'a page view',
    url: 'https://plausible.io/api/event',
    body: view,
    account: 'shop.example',
    events: ['pageview'],
    params: { u: 'https://shop.example/' },
  },
  {
    name: 'an event with properties',
    url: 'https://plausible.io/api/event',
    body: JSON.stringify({ n: 'Purchase', u: 'https://shop.example/', d: 'shop.example', p: '{"value":42.5}' }),
    account: 'shop.example',
    events: ['Purchase'],
    params: { 'p.value': '42.5' },
  },
  {
    name: 'an event through a proxy under any path',
    url: 'https://shop.example/js/e',
    body: view,
    account: 'shop.example',
    events: ['pageview'],
  },
  {
    name: 'server events',
    url: 'https://stats.shop.example/api/event',
    body: '{"name":"Signup","url":"app://localhost/","domain":"shop.example","props":{"plan":"pro"}}',
    account: 'shop.example',
    events: ['Signup'],
    params: { 'props.plan': 'pro' },
  },
  { name: 'the library', url: 'https://plausible.io/js/script.outbound-links.js', events: [''], kind: 'library' },
  {
    name: 'a library for a single website',
    url: 'https://plausible.io/js/pa-Ab1_c.js',
    account: 'pa-Ab1_c',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://plausible.io/api/event',
    body: '{"n":',
    events: [],
    error: 'Plausible: the body is not JSON',
  },
  { name: 'an unrelated API', url: 'https://shop.example/api/event', body: '{"n":"a"}', events: null },
  { name: "the vendor's website", url: 'https://plausible.io/docs', events: null },
])
