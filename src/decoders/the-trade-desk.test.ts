import { testDecoder } from './decoder-cases.ts'
import { theTradeDesk } from './the-trade-desk.ts'

// https://partner.thetradedesk.com/v3/portal/data/doc/TrackingTagsOverview
testDecoder(theTradeDesk, [
  {
    name: 'a conversion tag',
    url: 'https://insight.adsrvr.org/track/conv/?adv=abc123&ct=0:xyz789&fmt=3&v=42.5&vf=EUR&orderid=T1',
    account: 'abc123',
    events: ['conv'],
    params: { ct: '0:xyz789', orderid: 'T1' },
  },
  {
    name: 'the universal tag',
    url: 'https://insight.adsrvr.org/track/up?adv=abc123&ref=https%3A%2F%2Fshop.example%2F&upid=u1&upv=1.1.0',
    account: 'abc123',
    events: ['up'],
    params: { ref: 'https://shop.example/' },
  },
  {
    name: 'real-time conversions',
    url: 'https://insight.adsrvr.org/track/realtimeconversion',
    body: JSON.stringify({ data: [{ adv: 'abc123', event_name: 'purchase', value: 3 }, { adv: 'abc123' }] }),
    account: 'abc123',
    events: ['purchase', 'conversion'],
    params: { value: '3' },
  },
  { name: 'an ID sync', url: 'https://match.adsrvr.org/track/cmf/generic?ttd_pid=x', events: [] },
  { name: 'the library', url: 'https://js.adsrvr.org/up_loader.1.1.0.js', events: [''], kind: 'library' },
  { name: 'a bid', url: 'https://bid.adsrvr.org/bid/feedback/x', events: null },
])
