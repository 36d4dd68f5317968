import { bombora } from './bombora.ts'
import { testDecoder } from './decoder-cases.ts'

// https://bombora.com/customer-support/bombora-tag/
testDecoder(bombora, [
  {
    name: 'a page',
    url: 'https://ml314.com/utsync.ashx?et=0&eid=101&ct=js&cp=https%3A%2F%2Fshop.example%2F&pv=1&s=1440x900',
    account: '101',
    events: ['page_view'],
    params: { cp: 'https://shop.example/' },
  },
  { name: 'an ID sync with another service', url: 'https://ml314.com/csync.ashx?fp=1&eid=101&person_id=2', events: [] },
  { name: "the visitor's profile", url: 'https://in.ml314.com/ud.ashx?topiclimit=&cb=1', events: [] },
  { name: 'the library', url: 'https://cdn.ml314.com/taglw.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://bombora.com/get', events: null },
])
