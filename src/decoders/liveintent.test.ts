import { testDecoder } from './decoder-cases.ts'
import { liveIntent } from './liveintent.ts'

const state = encodeURIComponent(Buffer.from('{"event":"conversion","amount":9.5}').toString('base64'))

// https://github.com/LiveIntent/live-connect
testDecoder(liveIntent, [
  {
    name: 'a page view',
    url: 'https://rp.liadm.com/j?dtstmp=1&did=did-1&se=e30&pu=https%3A%2F%2Fshop.example%2F',
    account: 'did-1',
    events: ['pageView'],
    params: { pu: 'https://shop.example/' },
  },
  {
    name: 'a conversion',
    url: `https://rp.liadm.com/p?aid=a-1&se=${state}`,
    account: 'a-1',
    events: ['conversion'],
    params: { 'se.amount': '9.5' },
  },
  { name: 'a malformed state', url: 'https://rp.liadm.com/j?aid=a-1&se=%%%', account: 'a-1', events: ['pageView'] },
  { name: 'an ID sync', url: 'https://i.liadm.com/s/1?bidder_id=2', events: [] },
  { name: 'the library', url: 'https://b-code.liadm.com/a-1.min.js', account: 'a-1', events: [''], kind: 'library' },
  { name: 'another site', url: 'https://shop.example/j?aid=a-1', events: null },
])
