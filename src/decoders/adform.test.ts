import { adform } from './adform.ts'
import { testDecoder } from './decoder-cases.ts'

// https://www.adformhelp.com/hc/en-us/articles/9740580268049-Set-Up-Site-Tracking
testDecoder(adform, [
  {
    name: 'a named page',
    url: 'https://a2.adform.net/Serving/TrackPoint/?pm=1234&ADFPageName=Shop%7CThanks&ADFdivider=|&sl=42.5&id=T1',
    account: '1234',
    events: ['Shop|Thanks'],
    params: { id: 'T1' },
  },
  {
    name: 'a page',
    url: 'https://track.adform.net/serving/trackpoint/?pm=1234',
    account: '1234',
    events: ['trackpoint'],
  },
  {
    name: 'the library',
    url: 'https://s2.adform.net/banners/scripts/st/trackpoint-async.js',
    events: [''],
    kind: 'library',
  },
  { name: 'an ID sync', url: 'https://c1.adform.net/serving/cookie/match?party=1', events: [] },
  { name: 'a banner', url: 'https://adx.adform.net/adx/?mid=1', events: null },
])
