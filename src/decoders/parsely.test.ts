import { testDecoder } from './decoder-cases.ts'
import { parsely } from './parsely.ts'

const HIT = 'https://p1.parsely.com/px/?rand=1&idsite=shop.example&url=https%3A%2F%2Fshop.example%2F'

// https://docs.parse.ly/
testDecoder(parsely, [
  {
    name: 'a page view',
    url: `${HIT}&action=pageview&data=${encodeURIComponent('{"plan":"pro"}')}`,
    account: 'shop.example',
    events: ['pageview'],
    params: { url: 'https://shop.example/', 'data.plan': 'pro' },
  },
  {
    name: 'a heartbeat',
    url: `${HIT}&action=heartbeat&inc=5`,
    account: 'shop.example',
    events: ['heartbeat'],
  },
  {
    name: 'a video on the old path',
    url: 'https://p1.parsely.com/plogger/?idsite=shop.example&action=videostart&metadata=%7B',
    account: 'shop.example',
    events: ['videostart'],
    params: { metadata: '{' },
  },
  {
    name: 'the library',
    url: 'https://cdn.parsely.com/keys/shop.example/p.js',
    account: 'shop.example',
    events: [''],
    kind: 'library',
  },
  { name: "the vendor's website", url: 'https://www.parsely.com/', events: null },
])
