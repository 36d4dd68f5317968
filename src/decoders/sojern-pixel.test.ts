import { testDecoder } from './decoder-cases.ts'
import { sojernPixel } from './sojern-pixel.ts'

// https://www.sojern.com/pixel-privacy
testDecoder(sojernPixel, [
  {
    name: 'a hotel search',
    url: 'https://beacon.sojern.com/pixel/p/1234?et=hs&hc1=Paris&f_v=v6_js',
    account: '1234',
    events: ['hs'],
    params: { hc1: 'Paris' },
  },
  {
    name: 'a page view with a page type',
    url: 'https://beacon.sojern.com/p?pixelId=1234&pt=HOME_PAGE',
    account: '1234',
    events: ['HOME_PAGE'],
  },
  { name: 'an image', url: 'https://pixel.sojern.com/pixel/img/1234?vid=air', account: '1234', events: ['pixel'] },
  { name: 'an ID sync', url: 'https://pixel.sojern.com/idSync/AdX?x=1', events: [] },
  { name: "the vendor's website", url: 'https://www.sojern.com/p/1', events: null },
])
