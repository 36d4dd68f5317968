import { attentive } from './attentive.ts'
import { testDecoder } from './decoder-cases.ts'

const metadata = encodeURIComponent('{"productId":"SKU1","price":"42.50"}')
const app = JSON.stringify({ attentiveDomain: 'shop', eventType: 'AddToCart', eventMetadata: { currency: 'EUR' } })

// https://docs.attentive.com/pages/developer-guides/sdks/attentive-tag-sdk
testDecoder(attentive, [
  {
    name: 'a product',
    url: `https://events.attentivemobile.com/e?v=4.1&tag=modern&c=shop&t=d&u=u1&m=${metadata}`,
    account: 'shop',
    events: ['ProductView'],
    params: { 'm.productId': 'SKU1' },
  },
  {
    name: 'a purchase by POST',
    url: 'https://events.attentivemobile.com/e?c=shop&t=p',
    body: `m=${metadata}`,
    account: 'shop',
    events: ['Purchase'],
    params: { 'm.price': '42.50' },
  },
  {
    name: 'a page event',
    url: 'https://events.attentivemobile.com/e?c=shop&t=ce&m=%7B%22type%22%3A%22quiz%22%7D',
    account: 'shop',
    events: ['quiz'],
  },
  {
    name: 'an app event',
    url: 'https://events.attentivemobile.com/mobile',
    body: `d=${encodeURIComponent(app)}`,
    account: 'shop',
    events: ['AddToCart'],
    params: { 'eventMetadata.currency': 'EUR' },
  },
  { name: 'the content to display', url: 'https://creatives.attn.tv/creatives-service/x', events: [] },
  { name: "the visitor's ID", url: 'https://shop-us.attn.tv/d?attn_vid=u1', events: [] },
  { name: 'the library', url: 'https://cdn.attn.tv/shop/dtag.js', account: 'shop', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://www.attentive.com/e', events: null },
])
