import { testDecoder } from './decoder-cases.ts'
import { taboolaPixel } from './taboola-pixel.ts'

// https://developers.taboola.com/pixel/docs
testDecoder(taboolaPixel, [
  {
    name: 'a page view',
    url: 'https://trc.taboola.com/1234567/log/3/unip?en=page_view&item-url=https%3A%2F%2Fshop.example%2F',
    account: '1234567',
    events: ['page_view'],
    params: { 'item-url': 'https://shop.example/' },
  },
  {
    name: 'a conversion in a form',
    url: 'https://trc-events.taboola.com/1234567/log/3/unip',
    body: 'en=make_purchase&revenue=42.5&currency=EUR&orderid=T1',
    account: '1234567',
    events: ['make_purchase'],
    params: { orderid: 'T1' },
  },
  {
    name: 'a server conversion',
    url: 'https://trc.taboola.com/actions-handler/log/3/s2s-action?click-id=c1&name=lead',
    events: ['lead'],
  },
  {
    name: 'the library',
    url: 'https://cdn.taboola.com/libtrc/unip/1234567/tfa.js',
    account: '1234567',
    events: [''],
    kind: 'library',
  },
  { name: 'an ID sync', url: 'https://trc.taboola.com/sg/x/1/cm?taboola_hm=1', events: [] },
  { name: 'recommendations', url: 'https://trc.taboola.com/shop/trc/3/json?data=x', events: null },
])
