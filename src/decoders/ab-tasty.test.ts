import { abTasty } from './ab-tasty.ts'
import { testDecoder } from './decoder-cases.ts'

// https://docs.abtasty.com/server-side/data-collect-protocol
testDecoder(abTasty, [
  {
    name: 'a batch',
    url: 'https://ariane.abtasty.com/',
    body: JSON.stringify({
      cid: 'abc123',
      vid: 'v1',
      t: 'BATCH',
      dl: 'https://shop.example/',
      h: [
        { t: 'PAGEVIEW', qt: 1 },
        { t: 'EVENT', ec: 'Action Tracking', ea: 'add_to_cart' },
        { t: 'TRANSACTION', tid: 'A-1001', ta: 'purchase', tr: 42.5 },
      ],
    }),
    account: 'abc123',
    events: ['PAGEVIEW', 'add_to_cart', 'TRANSACTION'],
    params: { dl: 'https://shop.example/', vid: 'v1' },
  },
  {
    name: 'a single hit',
    url: 'https://events.flagship.io/',
    body: JSON.stringify({ cid: 'env1', vid: 'u1', t: 'SCREENVIEW', dl: 'Checkout' }),
    account: 'env1',
    events: ['SCREENVIEW'],
  },
  {
    name: 'a single hit in the query',
    url: 'https://ariane.abtasty.com/?t=EVENT&cid=abc123&vid=v1&ec=User%20Engagement&ea=click',
    account: 'abc123',
    events: ['click'],
  },
  {
    name: 'an activation',
    url: 'https://decision.flagship.io/v2/activate',
    body: JSON.stringify({ vid: 'u1', cid: 'env1', caid: 'c1', vaid: 'v1' }),
    account: 'env1',
    events: ['activate'],
  },
  { name: 'a decision', url: 'https://decision.flagship.io/v2/env1/campaigns', body: '{}', events: [] },
  {
    name: 'the library',
    url: 'https://try.abtasty.com/0123456789abcdef0123456789abcdef.js',
    account: '0123456789abcdef0123456789abcdef',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the settings',
    url: 'https://cdn.flagship.io/env1/accountSettings.json',
    account: 'env1',
    kind: 'library',
    events: [''],
  },
  {
    name: 'a body that is not JSON',
    url: 'https://ariane.abtasty.com/',
    body: 'x',
    events: [],
    error: 'AB Tasty: the body is not JSON',
  },
  { name: "the vendor's website", url: 'https://www.abtasty.com/', events: null },
])
