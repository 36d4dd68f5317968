import { testDecoder } from './decoder-cases.ts'
import { tealiumIq } from './tealium-iq.ts'

const TAGS = 'https://tags.tiqcdn.com/utag/shop/main/prod'

// https://docs.tealium.com/platforms/javascript/install/
testDecoder(tealiumIq, [
  {
    name: 'the loader',
    url: `${TAGS}/utag.js?cb=1`,
    account: 'shop/main',
    events: [''],
    kind: 'library',
    params: { environment: 'prod', cb: '1' },
  },
  {
    name: 'the synchronous part',
    url: `${TAGS}/utag.sync.js`,
    account: 'shop/main',
    events: [''],
    kind: 'library',
  },
  { name: 'a tag', url: `${TAGS}/utag.12.js?utv=ut4.48`, account: 'shop/main', events: [''], kind: 'library' },
  {
    name: "on the customer's host",
    url: 'https://tags.shop.example/utag/shop/shop.de-main/qa/utag.js',
    account: 'shop/shop.de-main',
    events: [''],
    kind: 'library',
  },
  { name: 'the version report', url: 'https://tags.tiqcdn.com/utag/tiqapp/utag.v.js?a=shop/main/1', events: [] },
  { name: 'an unrelated file', url: 'https://shop.example/utag.js', events: null },
])
