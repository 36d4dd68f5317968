import { testDecoder } from './decoder-cases.ts'
import { lytics } from './lytics.ts'

// https://docs.lytics.com/
testDecoder(lytics, [
  {
    name: 'a page view',
    url: 'https://c.lytics.io/c/acc1?_e=pv&url=shop.example%2Fcart&_ts=1&_uid=u1',
    account: 'acc1',
    events: ['pv'],
    params: { url: 'shop.example/cart' },
  },
  {
    name: 'data for a stream',
    url: 'https://c.lytics.io/c/acc1/orders?value=42.5&_uid=u1',
    account: 'acc1',
    events: ['orders'],
    params: { value: '42.5' },
  },
  {
    name: 'data in JSON',
    url: 'https://c.lytics.io/c/acc1/default',
    body: '{"_e":"purchase","value":42.5}',
    account: 'acc1',
    events: ['purchase'],
  },
  {
    name: 'server events',
    url: 'https://api.lytics.io/collect/json/orders',
    body: '[{"a":1},{"a":2}]',
    events: ['orders', 'orders'],
  },
  { name: "a partner's data", url: 'https://c.lytics.io/c/provider/liveramp?id=1', events: [] },
  {
    name: 'the library',
    url: 'https://c.lytics.io/api/tag/acc1/latest.min.js',
    account: 'acc1',
    events: [''],
    kind: 'library',
  },
  { name: "the vendor's website", url: 'https://www.lytics.com/c/acc1', events: null },
])
