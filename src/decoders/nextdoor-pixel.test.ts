import { testDecoder } from './decoder-cases.ts'
import { nextdoorPixel } from './nextdoor-pixel.ts'

// https://help.nextdoor.com/s/article/nextdoor-pixel
testDecoder(nextdoorPixel, [
  {
    name: 'a page view',
    url: 'https://flask.nextdoor.com/pixel?pid=pix1&ev=PAGE_VIEW&noscript=1',
    account: 'pix1',
    events: ['PAGE_VIEW'],
  },
  {
    name: 'a conversion in JSON',
    url: 'https://flask.nextdoor.com/pixel',
    body: JSON.stringify({ pid: 'pix1', ev: 'PURCHASE', order: { id: 'T1' } }),
    account: 'pix1',
    events: ['PURCHASE'],
    params: { 'order.id': 'T1' },
  },
  {
    name: 'the library',
    url: 'https://ads.nextdoor.com/public/pixel/ndp.js?id=pix1',
    account: 'pix1',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://flask.nextdoor.com/pixel',
    body: '{"pid"',
    events: [],
    error: 'Nextdoor Pixel: the body is not JSON',
  },
  { name: "the vendor's website", url: 'https://nextdoor.com/pixel', events: null },
])
