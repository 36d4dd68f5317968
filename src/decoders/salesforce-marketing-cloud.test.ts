import { testDecoder } from './decoder-cases.ts'
import { salesforceMarketingCloud } from './salesforce-marketing-cloud.ts'

const payload = { cart: [{ item: 'SKU1', quantity: '1', price: '42.50' }], order_number: 'A-1001' }

// https://developer.salesforce.com/docs/marketing/marketing-cloud/guide/collect-code.html
testDecoder(salesforceMarketingCloud, [
  {
    name: 'a page',
    url: 'https://101.collect.igodigital.com/c2/101/track_page_view?payload=%7B%22title%22%3A%22Home%22%7D',
    account: '101',
    events: ['track_page_view'],
    params: { title: 'Home' },
  },
  {
    name: 'a purchase',
    url: `https://nova.collect.igodigital.com/c2/101/track_conversion?payload=${encodeURIComponent(JSON.stringify(payload))}`,
    account: '101',
    events: ['track_conversion'],
    params: { 'cart.0.item': 'SKU1', order_number: 'A-1001' },
  },
  {
    name: 'a server page view',
    url: 'https://101.collect.igodigital.com/c2/101/track_page_view.json',
    body: JSON.stringify({ payload: { title: 'Home', user_info: { email: 'u1' } } }),
    account: '101',
    events: ['track_page_view'],
    params: { 'user_info.email': 'u1' },
  },
  {
    name: 'the library',
    url: 'https://101.collect.igodigital.com/collect.js',
    account: '101',
    kind: 'library',
    events: [''],
  },
  { name: 'an unrelated request', url: 'https://101.recs.igodigital.com/a/v2/101/home/recommend.json', events: null },
])
