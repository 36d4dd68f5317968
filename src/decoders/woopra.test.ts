import { testDecoder } from './decoder-cases.ts'
import { woopra } from './woopra.ts'

const CE = 'https://www.woopra.com/track/ce'

// https://docs.woopra.com/
testDecoder(woopra, [
  {
    name: 'a page view',
    url: `${CE}/?alias=shop.example&cookie=c1&event=pv&ce_url=%2Fcart`,
    account: 'shop.example',
    events: ['pv'],
    params: { ce_url: '/cart' },
  },
  {
    name: 'a page view in the legacy API',
    url: `${CE}/?alias=shop.example&ce_name=pv`,
    account: 'shop.example',
    events: ['pv'],
  },
  {
    name: 'a server event',
    url: CE,
    body: '{"project":"shop.example","event":"purchase","ce_value":42.5}',
    account: 'shop.example',
    events: ['purchase'],
  },
  {
    name: "the visitor's identity",
    url: 'https://www.woopra.com/track/identify/?project=shop.example&cv_email=a%40shop.example',
    account: 'shop.example',
    events: ['identify'],
  },
  { name: 'a heartbeat', url: 'https://www.woopra.com/track/ping/?alias=shop.example', events: [] },
  { name: 'the library', url: 'https://static.woopra.com/js/w.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.woopra.com/', events: null },
])
