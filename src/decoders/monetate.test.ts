import { testDecoder } from './decoder-cases.ts'
import { monetate } from './monetate.ts'

const CHANNEL = 'a-1f2e3d4c/p/shop.example'

// https://docs.monetate.com/docs/engine-api-overview
testDecoder(monetate, [
  {
    name: 'a page',
    url: `https://f.monetate.net/trk/4/s/${CHANNEL}/123-0?mi=%272.1%27&cs=!t&e=!(viewPage,gt,viewProduct)&u=%27https://shop.example/%27`,
    account: CHANNEL,
    events: ['viewPage', 'viewProduct'],
    params: { u: 'https://shop.example/', mi: '2.1', cs: 'true' },
  },
  { name: 'only a query', url: `https://f.monetate.net/trk/4/s/${CHANNEL}/123-0?e=!(gr,gt)`, events: [] },
  { name: 'unreadable data', url: `https://f.monetate.net/trk/4/s/${CHANNEL}/123-0?e=!(`, events: [] },
  {
    name: 'server events',
    url: 'https://engine.monetate.net/api/engine/v1/decide/shop',
    body: JSON.stringify({
      channel: CHANNEL,
      monetateId: '2.1',
      events: [
        { eventType: 'monetate:context:PageView', url: 'https://shop.example/', pageType: 'cart' },
        { eventType: 'monetate:decision:DecisionRequest', requestId: 'r1' },
      ],
    }),
    account: CHANNEL,
    events: ['monetate:context:PageView'],
    params: { pageType: 'cart', monetateId: '2.1' },
  },
  { name: 'an image in an e-mail', url: `https://d.monetate.net/trk/1/im/${CHANNEL}/`, events: [] },
  {
    name: 'the library',
    url: `https://se.monetate.net/js/3/${CHANNEL}/t1600000000/abc/custom.js`,
    account: CHANNEL,
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.monetate.com/', events: null },
])
