import { testDecoder } from './decoder-cases.ts'
import { merkury } from './merkury.ts'

const LOADER = '/tpTracking/loader/load.js?sv_cid=1234_5678&url=https%3A%2F%2Fshop.example%2F'

// https://github.com/MisterPhilip/omnibug
testDecoder(merkury, [
  {
    name: 'the loader',
    url: `https://www.rkdms.com${LOADER}`,
    account: '1234_5678',
    events: [''],
    kind: 'library',
    params: { url: 'https://shop.example/' },
  },
  {
    name: "the loader on the shop's host",
    url: `https://tag.shop.example${LOADER}`,
    account: '1234_5678',
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated loader', url: 'https://shop.example/loader/load.js?sv_cid=1', events: null },
])
