import { testDecoder } from './decoder-cases.ts'
import { rakutenAdvertising } from './rakuten-advertising.ts'

// https://pubhelp.rakutenadvertising.com/hc/en-us
testDecoder(rakutenAdvertising, [
  {
    name: 'a conversion',
    url: 'https://track.linksynergy.com/ep?mid=1234&ord=T1&skulist=S1%7CS2&qlist=1%7C2&amtlist=100%7C200&cur=EUR',
    account: '1234',
    events: ['conversion'],
    params: {
      ord: 'T1',
      skulist: 'S1|S2',
      'products.0.sku': 'S1',
      'products.1.quantity': '2',
      'products.1.amount': '200',
    },
  },
  {
    name: 'the library',
    url: 'https://tag.rmp.rakuten.com/1234.ct.js',
    account: '1234',
    events: [''],
    kind: 'library',
  },
  { name: 'a click', url: 'https://click.linksynergy.com/deeplink?mid=1234', events: null },
])
