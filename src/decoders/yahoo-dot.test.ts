import { testDecoder } from './decoder-cases.ts'
import { yahooDot } from './yahoo-dot.ts'

// https://developer.yahooinc.com/dsp/api/docs/traffic/info/dot-pixel.html
testDecoder(yahooDot, [
  {
    name: 'a page view',
    url: 'https://sp.analytics.yahoo.com/spp.pl?a=10000&.yp=1234',
    account: '1234',
    events: ['pageview'],
  },
  {
    name: 'a custom event',
    url: 'https://sp.analytics.yahoo.com/spp.pl?a=10000&.yp=1234&et=custom&ec=shop&ea=Purchase&gv=9.5',
    account: '1234',
    events: ['Purchase'],
    params: { gv: '9.5' },
  },
  { name: 'the library', url: 'https://s.yimg.com/wi/ytc.js', events: [''], kind: 'library' },
  { name: 'an image', url: 'https://s.yimg.com/a/b.png', events: null },
])
