import { testDecoder } from './decoder-cases.ts'
import { xPixel } from './x-pixel.ts'

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))

// https://business.x.com/en/help/campaign-measurement-and-analytics/conversion-tracking-for-websites
testDecoder(xPixel, [
  {
    name: 'a named event',
    url: `https://analytics.twitter.com/i/adsct?txn_id=o1abc&p_id=Twitter&events=${json([['purchase', { value: '9.5' }]])}`,
    account: 'o1abc',
    events: ['purchase'],
    params: { 'events.value': '9.5', p_id: 'Twitter' },
  },
  {
    name: 'an Events Manager event in a form',
    url: 'https://analytics.x.com/1/i/adsctp',
    body: `txn_id=tw-o1abc-o2def&event=${json({ value: 3, contents: [] })}&event_id=e1`,
    account: 'o1abc',
    events: ['tw-o1abc-o2def'],
    params: { 'event.value': '3', event_id: 'e1' },
  },
  {
    name: 'the base tag',
    url: 'https://analytics.twitter.com/1/i/adsct?txn_id=o1abc&event=%7B%7D',
    account: 'o1abc',
    events: ['config'],
  },
  {
    name: 'malformed JSON',
    url: 'https://analytics.twitter.com/i/adsct?txn_id=o1abc&events=%5B%5B',
    account: 'o1abc',
    events: ['config'],
    params: { events: '[[' },
  },
  { name: 'the copy to t.co', url: `https://t.co/i/adsct?txn_id=o1abc&events=${json([['pageview', {}]])}`, events: [] },
  { name: 'an ID sync', url: 'https://analytics.twitter.com/i/adsct?p_user_id=u1&p_id=7', events: [] },
  { name: 'the library', url: 'https://static.ads-twitter.com/uwt.js', events: [''], kind: 'library' },
  { name: 'a short link', url: 'https://t.co/abc', events: null },
  {
    name: 'server conversions',
    url: 'https://ads-api.x.com/12/measurement/conversions/o8z6j',
    body: '{"conversions":[{"event_id":"tw-o8z6j-od1","value":"59.9","conversion_id":"c1"},{"event_id":"tw-o8z6j-od2"}]}',
    account: 'o8z6j',
    events: ['tw-o8z6j-od1', 'tw-o8z6j-od2'],
    params: { conversion_id: 'c1' },
  },
])
