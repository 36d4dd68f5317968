import { testDecoder } from './decoder-cases.ts'
import { iterable } from './iterable.ts'

// https://api.iterable.com/api/docs
testDecoder(iterable, [
  {
    name: 'an event',
    url: 'https://api.iterable.com/api/events/track',
    body: JSON.stringify({ eventName: 'Checkout', email: 'jane@shop.example', dataFields: { value: 42.5 } }),
    events: ['Checkout'],
    params: { 'dataFields.value': '42.5' },
  },
  {
    name: 'a purchase',
    url: 'https://api.eu.iterable.com/api/commerce/trackPurchase',
    body: JSON.stringify({ items: [{ id: 'SKU1', price: 20, quantity: 1 }], total: 20 }),
    events: ['trackPurchase'],
    params: { 'items.0.id': 'SKU1', total: '20' },
  },
  {
    name: 'several events',
    url: 'https://api.iterable.com/api/events/trackBulk',
    body: JSON.stringify({ events: [{ eventName: 'A' }, { eventName: 'B' }] }),
    events: ['A', 'B'],
  },
  {
    name: 'a user',
    url: 'https://api.iterable.com/api/users/update',
    body: '{"email":"jane@shop.example"}',
    events: ['update'],
  },
  { name: 'messages', url: 'https://api.iterable.com/api/inApp/web/getMessages?count=5', events: [] },
  {
    name: 'a body that is not JSON',
    url: 'https://api.iterable.com/api/events/track',
    body: 'x',
    events: [],
    error: 'Iterable: the body is not JSON',
  },
  { name: "the vendor's website", url: 'https://iterable.com/api/events/track', events: null },
])
