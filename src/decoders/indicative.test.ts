import { testDecoder } from './decoder-cases.ts'
import { indicative } from './indicative.ts'

const EVENT = 'https://api.indicative.com/service/event'

// https://support.indicative.com/hc/en-us/articles/360004147512-REST-API-Guide
testDecoder(indicative, [
  {
    name: 'an event',
    url: EVENT,
    body: '{"apiKey":"k1","eventName":"Purchase","eventUniqueId":"u1","properties":{"value":42.5}}',
    account: 'k1',
    events: ['Purchase'],
    params: { 'properties.value': '42.5', eventUniqueId: 'u1' },
  },
  {
    name: 'several events',
    url: `${EVENT}/batch`,
    body: '{"apiKey":"k1","events":[{"eventName":"A"},{"eventName":"B"}]}',
    account: 'k1',
    events: ['A', 'B'],
  },
  {
    name: 'an API key in the path',
    url: `${EVENT}/k2?eventName=View&eventUniqueId=u1`,
    account: 'k2',
    events: ['View'],
  },
  { name: "the visitor's identity", url: 'https://api.indicative.com/service/identify', body: '{}', events: [] },
  { name: 'a malformed body', url: EVENT, body: '{', events: [], error: 'Indicative: the body is not JSON' },
  { name: "the vendor's website", url: 'https://www.indicative.com/', events: null },
])
