import { testDecoder } from './decoder-cases.ts'
import { insider } from './insider.ts'

const hit = JSON.stringify({
  version: '1.0',
  partner_name: 'shop',
  event: 'pageView',
  page_type: 'productDetail',
  product: { id: 'SKU1', name: 'Größe M' },
})

// https://academy.insiderone.com/docs/insider-tag
testDecoder(insider, [
  {
    name: 'a page',
    url: 'https://hit.api.useinsider.com/hit',
    body: btoa(encodeURIComponent(hit)),
    account: 'shop',
    events: ['pageView'],
    params: { page_type: 'productDetail', 'product.name': 'Größe M' },
  },
  {
    name: 'a page view',
    url: 'https://hit.api.useinsider.com/hit',
    body: hit,
    account: 'shop',
    events: ['pageView'],
    params: { 'product.id': 'SKU1' },
  },
  {
    name: 'a malformed page view',
    url: 'https://hit.api.useinsider.com/hit',
    body: 'JTdC!',
    events: [],
    error: 'Insider: the body is not JSON',
  },
  {
    name: 'server events',
    url: 'https://unification.useinsider.com/api/user/v1/upsert',
    body: JSON.stringify({
      users: [
        {
          identifiers: { uuid: 'u1' },
          events: [{ event_name: 'purchase', event_params: { unit_price: 42.5 } }, { event_name: 'login' }],
        },
      ],
    }),
    events: ['purchase', 'login'],
    params: { 'identifiers.uuid': 'u1', 'event_params.unit_price': '42.5' },
  },
  { name: 'the content to display', url: 'https://segment.api.useinsider.com/v2/segment', body: '{}', events: [] },
  {
    name: 'the library',
    url: 'https://shop.api.useinsider.com/ins.js?id=10001001',
    account: '10001001',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://useinsider.com/hit', events: null },
])
