import { testDecoder } from './decoder-cases.ts'
import { xandr } from './xandr.ts'

// https://learn.microsoft.com/en-us/xandr/invest/universal-pixel
testDecoder(xandr, [
  {
    name: 'a segment with a code',
    url: 'https://ib.adnxs.com/seg?member_id=1540&add_code=cart&t=1',
    account: '1540',
    events: ['segment'],
  },
  {
    name: 'the universal pixel',
    url: 'https://ib.adnxs.com/pixie?pi=pix1&e=PageView&u=https%3A%2F%2Fshop.example%2F',
    account: 'pix1',
    events: ['PageView'],
    params: { u: 'https://shop.example/' },
  },
  {
    name: 'a conversion',
    url: 'https://secure.adnxs.com/px?id=1234&value=9.5',
    account: '1234',
    events: ['conversion'],
  },
  { name: 'a segment', url: 'https://secure.adnxs.com/seg?add=1234&t=2', account: '1234', events: ['segment'] },
  { name: 'an ID sync', url: 'https://ib.adnxs.com/getuid?https://shop.example/', events: [] },
  { name: 'the library', url: 'https://acdn.adnxs.com/dmp/up/pixie.js', events: [''], kind: 'library' },
  { name: 'an ad auction', url: 'https://ib.adnxs.com/ut/v3/prebid', events: null },
])
