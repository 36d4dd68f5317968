import { testDecoder } from './decoder-cases.ts'
import { quoraPixel } from './quora-pixel.ts'

// https://quoraadsupport.zendesk.com/hc/en-us/categories/115001573928-Pixels-Tracking
testDecoder(quoraPixel, [
  {
    name: 'a page view',
    url: 'https://q.quora.com/_/ad/abc123/pixel?tag=ViewContent&i=gtm&u=https%3A%2F%2Fshop.example%2F',
    account: 'abc123',
    events: ['ViewContent'],
    params: { u: 'https://shop.example/' },
  },
  {
    name: 'a conversion',
    url: 'https://q.quora.com/_/ad/abc123/pixel?tag=Purchase&value=9.5',
    account: 'abc123',
    events: ['Purchase'],
  },
  { name: 'the library', url: 'https://a.quora.com/qevents.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.quora.com/_/ad/abc123/pixel', events: null },
])
