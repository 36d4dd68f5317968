import { testDecoder } from './decoder-cases.ts'
import { oracleEloqua } from './oracle-eloqua.ts'

const PAGE = '/visitor/v200/svrGP?pps=3&siteid=101&ref2=https%3A%2F%2Fshop.example%2F&tzo=60&ms=1'

// https://docs.oracle.com/en/cloud/saas/marketing/eloqua-user/Help/EloquaAsynchronousTrackingScripts/EloquaAsynchronousTrackingScripts.htm
testDecoder(oracleEloqua, [
  {
    name: 'a page',
    url: `https://s101.t.eloqua.com${PAGE}`,
    account: '101',
    events: ['page_view'],
    params: { ref2: 'https://shop.example/' },
  },
  {
    name: "a page view on the customer's host",
    url: `https://t.shop.example${PAGE}`,
    account: '101',
    events: ['page_view'],
  },
  { name: 'a lookup', url: 'https://s101.t.eloqua.com/visitor/v200/svrGP?pps=70&siteid=101&ref=x', events: [] },
  {
    name: 'a form',
    url: 'https://s101.t.eloqua.com/e/f2',
    body: 'elqFormName=contact&elqSiteID=101&emailAddress=jane%40shop.example',
    account: '101',
    events: ['contact'],
    params: { emailAddress: 'jane@shop.example' },
  },
  { name: 'the library', url: 'https://img.en25.com/i/elqCfg.min.js', kind: 'library', events: [''] },
  { name: 'the same path on another site', url: 'https://shop.example/visitor/v200/svrGP?pps=3', events: null },
])
