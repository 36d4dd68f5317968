import { testDecoder } from './decoder-cases.ts'
import { outbrainPixel } from './outbrain-pixel.ts'

// https://www.outbrain.com/help/advertisers/outbrain-pixel/
testDecoder(outbrainPixel, [
  {
    name: 'a page view',
    url: 'https://tr.outbrain.com/unifiedPixel?marketerId=00abc&name=PAGE_VIEW&dl=https%3A%2F%2Fshop.example%2F',
    account: '00abc',
    events: ['PAGE_VIEW'],
    params: { dl: 'https://shop.example/' },
  },
  {
    name: 'a conversion',
    url: 'https://tr.outbrain.com/unifiedPixel?marketerId=00abc&name=Purchase&orderValue=9.5',
    account: '00abc',
    events: ['Purchase'],
  },
  { name: 'a click ID request', url: 'https://tr.outbrain.com/cachedClickId?marketerId=00abc', events: [] },
  {
    name: 'the configuration',
    url: 'https://wave.outbrain.com/mtWavesBundler/handler/00abc',
    account: '00abc',
    events: [''],
    kind: 'library',
  },
  { name: 'the library', url: 'https://amplify.outbrain.com/cp/obtp.js', events: [''], kind: 'library' },
  { name: 'recommendations', url: 'https://widgets.outbrain.com/outbrain.js', events: null },
])
