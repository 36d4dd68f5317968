import { testDecoder } from './decoder-cases.ts'
import { mappIntelligence } from './mapp-intelligence.ts'

const ID = '123456789012345'
const P = 'p=600,shop.cart,1,1280x720,24,1,1795151773351,0,1280x720,0'

// https://www.npmjs.com/package/@webtrekk-smart-pixel/core
testDecoder(mappIntelligence, [
  {
    name: 'a page with products',
    url: `https://shop01.wt-eu02.net/${ID}/wt?${P}&ba=${encodeURIComponent('S1;S2')}&co=${encodeURIComponent('19.9;5')}&qn=${encodeURIComponent('1;2')}&ca1=${encodeURIComponent('Men;Women')}`,
    account: ID,
    events: ['page'],
    params: {
      'p.page': 'shop.cart',
      'p.screen': '1280x720',
      ba: 'S1;S2',
      'products.0.ba': 'S1',
      'products.1.co': '5',
      'products.1.qn': '2',
      'products.1.ca1': 'Women',
    },
  },
  {
    name: 'a page',
    url: `https://shop01.wt-eu02.net/${ID}/wt?${P}&eid=2&ov=42.5&oi=A1`,
    account: ID,
    events: ['page'],
    params: { oi: 'A1' },
  },
  { name: 'an action', url: `https://web.shop.example/${ID}/wt?${P}&ct=buy.click`, account: ID, events: ['buy.click'] },
  { name: 'a form', url: `https://web.shop.example/${ID}/wt.pl?${P}&fn=contact&ft=1`, account: ID, events: ['form'] },
  { name: 'a video', url: `https://web.shop.example/${ID}/wt?${P}&mi=intro&mk=play`, account: ID, events: ['play'] },
  {
    name: 'several events',
    url: `https://web.shop.example/${ID}/batch?eid=2`,
    body: `wt?${P}&cg1=cart\nwt?${P}&ct=buy.click\n`,
    account: ID,
    events: ['page', 'buy.click'],
    params: { eid: '2', cg1: 'cart' },
  },
  {
    name: 'the tag list',
    url: `https://responder.wt-safetag.com/resp/api/get/${ID}?url=https%3A%2F%2Fshop.example%2F&v=5`,
    account: ID,
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated path', url: 'https://shop.example/12/wt?p=1', events: null },
])
