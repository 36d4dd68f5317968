import { testDecoder } from './decoder-cases.ts'
import { goatcounter } from './goatcounter.ts'

// https://www.goatcounter.com/help/pixel
testDecoder(goatcounter, [
  {
    name: 'a page view',
    url: 'https://shop.goatcounter.com/count?p=%2Fcart&t=Cart&s=1280%2C720%2C1&b=0&rnd=abc',
    account: 'shop',
    events: ['pageview'],
    params: { p: '/cart' },
  },
  {
    name: 'an event',
    url: 'https://shop.goatcounter.com/count?p=purchase&e=true&rnd=abc',
    account: 'shop',
    events: ['purchase'],
  },
  {
    name: 'on a self-hosted server',
    url: 'https://stats.shop.example/count?p=%2Fcart&s=1280%2C720%2C1&rnd=abc',
    events: ['pageview'],
  },
  { name: 'the library', url: 'https://gc.zgo.at/count.js', events: [''], kind: 'library' },
  { name: 'an unrelated count', url: 'https://shop.example/count?p=1', events: null },
])
