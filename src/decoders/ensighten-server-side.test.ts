import { testDecoder } from './decoder-cases.ts'
import { ensightenServerSide } from './ensighten-server-side.ts'

const COLLECT = 'https://data.shop.example/pc/shop/sst'

// https://github.com/MisterPhilip/omnibug
testDecoder(ensightenServerSide, [
  {
    name: 'page events',
    url: `${COLLECT}?sstVersion=1.2.0`,
    body: '{"dataLayer":{"plan":"gold"},"events":[{"name":"page_view"},{"name":"purchase","data":{"id":"A1"}}]}',
    account: 'shop',
    events: ['page_view', 'purchase'],
    params: { 'dataLayer.plan': 'gold', sstVersion: '1.2.0' },
  },
  { name: 'a request without events', url: `${COLLECT}/?sstVersion=1.2.0`, events: [] },
  {
    name: 'a malformed body',
    url: `${COLLECT}?sstVersion=1.2.0`,
    body: '[1]',
    events: [],
    error: 'Ensighten Server Side: the body is not a JSON object',
  },
  { name: "the same path on a shop's page", url: 'https://shop.example/sst?page=2', events: null },
])
