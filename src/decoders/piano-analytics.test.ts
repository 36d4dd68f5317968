import { testDecoder } from './decoder-cases.ts'
import { pianoAnalytics } from './piano-analytics.ts'

const body = JSON.stringify({
  events: [
    { name: 'page.display', data: { page: 'checkout' } },
    { name: 'transaction.confirmation', data: { transaction_id: 'A1' } },
  ],
})

// https://developers.atinternet-solutions.com/piano-analytics/
testDecoder(pianoAnalytics, [
  {
    name: 'events',
    url: 'https://abcdefg.pa-cd.com/event?s=123456&idclient=c1',
    body,
    account: '123456',
    events: ['page.display', 'transaction.confirmation'],
    params: { 'data.page': 'checkout', idclient: 'c1' },
  },
  {
    name: "on the customer's host under another path",
    url: 'https://data.shop.example/collect?s=123456&idclient=c1',
    body,
    account: '123456',
    events: ['page.display', 'transaction.confirmation'],
  },
  { name: 'the library', url: 'https://tag.aticdn.net/piano-analytics.js', events: [''], kind: 'library' },
  {
    name: 'a malformed body',
    url: 'https://abcdefg.pa-cd.com/event?s=123456',
    body: '{"events":',
    events: [],
    error: 'Piano Analytics: the body is not JSON',
  },
  { name: 'an unrelated collector', url: 'https://shop.example/event?s=abc&idclient=c1', body, events: null },
])
