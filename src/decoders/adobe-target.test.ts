import { adobeTarget } from './adobe-target.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/target-dev/developer/api/delivery-api/overview
testDecoder(adobeTarget, [
  {
    name: 'an mbox',
    url: 'https://shop.tt.omtrdc.net/m2/shop/mbox/json?mbox=global-mbox&mboxSession=s1&profile.plan=gold',
    account: 'shop',
    events: ['global-mbox'],
    params: { 'profile.plan': 'gold' },
  },
  {
    name: "an mbox on the shop's host",
    url: 'https://target.shop.example/m2/shop/mbox/ajax?mbox=cart&mboxSession=s1',
    account: 'shop',
    events: ['cart'],
  },
  {
    name: 'a delivery',
    url: 'https://shop.tt.omtrdc.net/rest/v1/delivery?client=shop&sessionId=s1&version=2.3.0',
    body: JSON.stringify({
      context: { address: { url: 'https://shop.example/' } },
      execute: { pageLoad: { parameters: { plan: 'gold' } }, mboxes: [{ index: 0, name: 'cart' }] },
      prefetch: { views: [{}] },
    }),
    account: 'shop',
    events: ['pageLoad', 'cart', 'views'],
    params: { 'context.address.url': 'https://shop.example/', 'execute.parameters.plan': 'gold' },
  },
  {
    name: 'the displayed content',
    url: 'https://target.shop.example/rest/v1/delivery?client=shop&sessionId=s1',
    body: JSON.stringify({ notifications: [{ type: 'display', mbox: { name: 'cart' } }] }),
    account: 'shop',
    events: ['display'],
    params: { 'notification.mbox.name': 'cart' },
  },
  { name: 'the library', url: 'https://cdn.tt.omtrdc.net/cdn/target.js', events: [''], kind: 'library' },
  {
    name: 'a malformed body',
    url: 'https://shop.tt.omtrdc.net/rest/v1/delivery?client=shop',
    body: '{',
    events: [],
    error: 'Adobe Target: the body is not JSON',
  },
  { name: 'another site', url: 'https://shop.example/rest/v1/delivery', events: null },
])
