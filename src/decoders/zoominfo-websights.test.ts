import { testDecoder } from './decoder-cases.ts'
import { zoomInfoWebSights } from './zoominfo-websights.ts'

// https://help.zoominfo.com/s/article/WebSights-Installation
testDecoder(zoomInfoWebSights, [
  {
    name: 'a page',
    url: 'https://ws.zoominfo.com/pixel/collect',
    body: JSON.stringify({ pixelId: 'abc123', url: 'https://shop.example/', visitorId: 'v1' }),
    account: 'abc123',
    events: ['page_view'],
    params: { url: 'https://shop.example/' },
  },
  { name: 'the script', url: 'https://ws.zoominfo.com/pixel/abc123', account: 'abc123', kind: 'library', events: [''] },
  { name: 'the tag', url: 'https://js.zi-scripts.com/zi-tag.js', kind: 'library', events: [''] },
  { name: 'a form', url: 'https://ws.zoominfo.com/formcomplete-v2/forms', body: '{}', events: [] },
  { name: "the vendor's website", url: 'https://www.zoominfo.com/pixel/1', events: null },
])
