import { testDecoder } from './decoder-cases.ts'
import { zemantaPixel } from './zemanta-pixel.ts'

// https://help.zemanta.com/article/show/12987-pixels--custom-audiences
testDecoder(zemantaPixel, [
  {
    name: 'a page view',
    url: 'https://p1.zemanta.com/v2/p/js/1234/PAGE_VIEW/?referrer=x',
    account: '1234',
    events: ['PAGE_VIEW'],
  },
  { name: 'a pixel with a number', url: 'https://p1.zemanta.com/p/1234/5678/', account: '1234', events: ['5678'] },
  { name: 'a pixel without a name', url: 'https://p1.zemanta.com/p/1234/', account: '1234', events: ['PAGE_VIEW'] },
  { name: 'the library', url: 'https://js-tag.zemanta.com/zcpt.js', events: [''], kind: 'library' },
  { name: 'an ID sync', url: 'https://b1sync.zemanta.com/usersync/x/?cb=1', events: [] },
  { name: "the vendor's website", url: 'https://one.zemanta.com/v2/p', events: null },
])
