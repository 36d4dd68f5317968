import { testDecoder } from './decoder-cases.ts'
import { yandexMetrica } from './yandex-metrica.ts'

const WATCH = 'https://mc.yandex.ru/watch/1234567'

// https://yandex.com/support/metrica/en/objects/method-reference
testDecoder(yandexMetrica, [
  {
    name: 'a page view',
    url: `${WATCH}?wmode=7&page-url=https%3A%2F%2Fshop.example%2F&browser-info=pv%3A1%3Avf%3Aabc`,
    account: '1234567',
    events: ['hit'],
    params: { 'page-url': 'https://shop.example/' },
  },
  {
    name: 'a goal with parameters in the body',
    url: `${WATCH}/1?page-url=goal%3A%2F%2Fshop.example%2Forder_done&browser-info=ar%3A1`,
    body: `site-info=${encodeURIComponent(JSON.stringify({ order: { price: 42.5 } }))}`,
    account: '1234567',
    events: ['order_done'],
    params: { 'site-info.order.price': '42.5' },
  },
  {
    name: 'a download',
    url: `https://mc.yandex.com/watch/1234567/1?page-url=https%3A%2F%2Fshop.example%2Fa.pdf&browser-info=dl%3A1%3Aar%3A1`,
    account: '1234567',
    events: ['file'],
  },
  { name: 'a page view by image request', url: WATCH, account: '1234567', events: ['hit'] },
  {
    name: "a page view through a shop's server",
    url: 'https://shop.example/ym/watch/1234567?page-url=https%3A%2F%2Fshop.example%2F&browser-info=pv%3A1',
    account: '1234567',
    events: ['hit'],
  },
  { name: 'a recording', url: 'https://mc.yandex.ru/webvisor/1234567?wmode=0', body: 'x', events: [] },
  {
    name: 'the library',
    url: 'https://mc.yandex.ru/metrika/tag.js?id=1234567',
    account: '1234567',
    events: [''],
    kind: 'library',
  },
  { name: 'a page about a film', url: 'https://shop.example/watch/1234567', events: null },
])
