import { adobeAnalytics } from './adobe-analytics.ts'
import { testDecoder } from './decoder-cases.ts'

const SHOP = 'https://smetrics.shop.example/b/ss/shopprod,shopglobal/1/JS-2.22.0-LDQM/s123456789'

// https://experienceleague.adobe.com/en/docs/analytics/implementation/validate/query-parameters
testDecoder(adobeAnalytics, [
  {
    name: 'products',
    url: `https://shop.sc.omtrdc.net/b/ss/shop/1/JS-2/s1?AQB=1&products=${encodeURIComponent('Men;S1;2;19.90;event5=1.5|event6;eVar1=red|eVar1=blue,;S2')}&AQE=1`,
    account: 'shop',
    events: ['pageView'],
    params: {
      products: 'Men;S1;2;19.90;event5=1.5|event6;eVar1=red|eVar1=blue,;S2',
      'products.0.category': 'Men',
      'products.0.product': 'S1',
      'products.0.quantity': '2',
      'products.0.price': '19.90',
      'products.0.event5': '1.5',
      'products.0.eVar1': 'red',
      'products.0.eVar1.1': 'blue',
      'products.1.product': 'S2',
    },
    without: ['products.0.event6', 'products.1.category'],
  },
  {
    name: "a page view on the shop's host, with context data",
    url: `${SHOP}?AQB=1&pageName=home&v5=gold&c.&page.&type=landing&.page&plan=a&.c&c1=x&AQE=1`,
    account: 'shopprod,shopglobal',
    events: ['pageView'],
    params: { pageName: 'home', v5: 'gold', 'c.page.type': 'landing', 'c.plan': 'a', c1: 'x' },
    without: ['c.', '.c', 'type'],
  },
  {
    name: 'a page view with a list of events',
    url: 'https://shop.sc.omtrdc.net/b/ss/shopprod/1/JS-2.22.0/s1',
    body: 'AQB=1&pageName=thanks&events=purchase%3AT1%2Cevent5%3D3.5%2Cevent6&products=%3BSKU1%3B1%3B20&AQE=1',
    account: 'shopprod',
    events: ['pageView', 'purchase', 'event5', 'event6'],
    params: { events: 'purchase:T1,event5=3.5,event6', 'events.purchase': 'T1', 'events.event5': '3.5' },
  },
  {
    name: 'a link click, named after the link',
    url: `${SHOP}?AQB=1&pe=lnk_o&pev2=Sign+up&AQE=1`,
    account: 'shopprod,shopglobal',
    events: ['Sign up'],
  },
  {
    name: 'a download without a link name',
    url: 'https://shop.112.2o7.net/b/ss/shopprod/0?pe=lnk_d&pev1=https%3A%2F%2Fshop.example%2Fa.pdf',
    account: 'shopprod',
    events: ['downloadLink'],
  },
  { name: 'a repeated call', url: `${SHOP}?AQB=1&pccr=true&vidn=1&pageName=home&AQE=1`, events: [] },
  {
    name: 'context data in the format of some recorders',
    url: `${SHOP}?AQB=1&c.=&page.=&type=landing&.page=&.c=&c1=x&AQE=1`,
    account: 'shopprod,shopglobal',
    events: ['pageView'],
    params: { 'c.page.type': 'landing', c1: 'x' },
  },
  {
    name: "a legacy call on the shop's host",
    url: 'https://metrics.shop.example/b/ss/shopprod/0?pageName=home',
    account: 'shopprod',
    events: ['pageView'],
  },
  {
    name: 'hostile nesting',
    url: `${SHOP}?${'a.&'.repeat(2000)}x=1&.a`,
    account: 'shopprod,shopglobal',
    events: ['pageView'],
    params: { [`${'a.'.repeat(20)}x`]: '1' },
  },
  {
    name: 'an import from a server',
    url: 'https://shop.112.2o7.net/b/ss//6',
    body: '<?xml?>',
    events: [],
    error: 'Adobe Analytics: the body is XML',
  },
  { name: 'the library', url: 'https://shop.example/js/AppMeasurement.js', events: [''], kind: 'library' },
  { name: 'the same path on another site', url: 'https://shop.example/b/ss/7', events: null },
])
