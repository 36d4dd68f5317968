import { contentsquare } from './contentsquare.ts'
import { testDecoder } from './decoder-cases.ts'

// https://docs.contentsquare.com/en/web/
testDecoder(contentsquare, [
  {
    name: 'a page',
    url: 'https://c.contentsquare.net/pageview?pid=101&uu=u1&sn=1&pn=4&dw=1459&url=https%3A%2F%2Fshop.example%2F&uc=1',
    account: '101',
    events: ['pageview'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'a page event',
    url: 'https://c.contentsquare.net/pageEvent?value=add-to-cart&pid=101&uu=u1',
    account: '101',
    events: ['add-to-cart'],
  },
  {
    name: 'a purchase',
    url: 'https://c.contentsquare.net/transaction?pid=101&tr=A-1001&rev=4250',
    account: '101',
    events: ['transaction'],
  },
  {
    name: 'a recording',
    url: 'https://k-aeu1.contentsquare.net/v2/recording?rt=5&pid=101',
    body: '\u001f',
    events: [],
  },
  { name: 'pointer movements', url: 'https://c.contentsquare.net/v2/events?pid=101', body: '[]', events: [] },
  {
    name: 'the library',
    url: 'https://t.contentsquare.net/uxa/0a1b2c3d4e5f.js',
    account: '0a1b2c3d4e5f',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://contentsquare.com/pageview', events: null },
])
