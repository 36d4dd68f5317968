import { testDecoder } from './decoder-cases.ts'
import { stackAdapt } from './stackadapt.ts'

// https://docs.stackadapt.com/pixel-api
testDecoder(stackAdapt, [
  {
    name: 'a page view',
    url: 'https://tags.srv.stackadapt.com/saq_pxl?uid=u1&is_js=true&landing_url=https%3A%2F%2Fshop.example%2F',
    account: 'u1',
    events: ['page_view'],
    params: { landing_url: 'https://shop.example/' },
  },
  {
    name: 'an event',
    url: 'https://tags.srv.stackadapt.com/saq_pxl?uid=u1&action=add_to_cart',
    account: 'u1',
    events: ['add_to_cart'],
  },
  {
    name: 'a conversion',
    url: 'https://srv.stackadapt.com/conv?cid=c1&order_id=T1',
    account: 'c1',
    events: ['conversion'],
  },
  { name: 'an ID sync', url: 'https://sync.srv.stackadapt.com/sync?nid=91', events: [] },
  { name: 'the library', url: 'https://tags.srv.stackadapt.com/events.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.stackadapt.com/conv', events: null },
])
