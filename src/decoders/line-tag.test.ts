import { testDecoder } from './decoder-cases.ts'
import { lineTag } from './line-tag.ts'

// https://www.lycbiz.com/jp/manual/line-ads/tracking_003/
testDecoder(lineTag, [
  {
    name: 'a page view',
    url: 'https://tr.line.me/tag.gif?c_t=lap&t_id=tag-1&e=pv&url=https%3A%2F%2Fshop.example%2F',
    account: 'tag-1',
    events: ['pv'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'a conversion',
    url: 'https://tr.line.me/tag.gif?c_t=lap&t_id=tag-1&e=cv&cv_type=Purchase',
    account: 'tag-1',
    events: ['Purchase'],
  },
  {
    name: 'the library',
    url: 'https://d.line-scdn.net/n/line_tag/public/release/v1/lt.js',
    events: [''],
    kind: 'library',
  },
  { name: 'the messaging service', url: 'https://line.me/tag.gif', events: null },
])
