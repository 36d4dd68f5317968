import { comscore } from './comscore.ts'
import { testDecoder } from './decoder-cases.ts'

// https://github.com/MisterPhilip/omnibug
testDecoder(comscore, [
  {
    name: 'a page view',
    url: 'https://sb.scorecardresearch.com/b?c1=2&c2=1234567&ns__t=1&c7=https%3A%2F%2Fshop.example%2F',
    account: '1234567',
    events: ['view'],
    params: { c7: 'https://shop.example/' },
  },
  {
    name: 'a hidden event',
    url: 'https://sb.scorecardresearch.com/p?c1=2&c2=1234567&ns_type=hidden',
    account: '1234567',
    events: ['hidden'],
  },
  {
    name: 'a video',
    url: 'https://b.scorecardresearch.com/p?c1=19&c2=1234567&ns_type=hidden&ns_st_ev=play',
    account: '1234567',
    events: ['play'],
  },
  { name: 'a repeated hit', url: 'https://sb.scorecardresearch.com/b2?c1=2&c2=1234567', events: [] },
  {
    name: "on the customer's host",
    url: 'https://sa.shop.example/shop/main/s?name=cart.page&ns__t=1',
    account: 'shop/main',
    events: ['view'],
  },
  {
    name: 'the library',
    url: 'https://sb.scorecardresearch.com/cs/1234567/beacon.js',
    account: '1234567',
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated path', url: 'https://shop.example/a/b/s?q=1', events: null },
])
