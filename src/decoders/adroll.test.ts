import { adroll } from './adroll.ts'
import { testDecoder } from './decoder-cases.ts'

// https://help.adroll.com/hc/en-us/articles/211846018
testDecoder(adroll, [
  {
    name: 'a page view',
    url: 'https://d.adroll.com/pixel/ADV0123456789/PIX0123456789?adroll_version=2&arrfrr=https%3A%2F%2Fshop.example%2F',
    account: 'ADV0123456789',
    events: ['pageView'],
    params: { arrfrr: 'https://shop.example/' },
  },
  { name: 'an ID sync', url: 'https://d.adroll.com/cm/x/out?advertisable=ADV0123456789', events: [] },
  {
    name: 'the library',
    url: 'https://s.adroll.com/j/ADV0123456789/roundtrip.js',
    account: 'ADV0123456789',
    events: [''],
    kind: 'library',
  },
  { name: "the vendor's website", url: 'https://www.adroll.com/pixel/A/B', events: null },
])
