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
    name: 'several',
    url: `${EVENT}/batch`,
    body: '{"apiKey":"k1","events":[{"eventName":"A"},{"eventName":"B"}]}',
    account: 'k1',
    events: ['A', 'B'],
  },
  {
    name: 'the key in the path',
    url: `${EVENT}/k2?eventName=View&eventUniqueId=u1`,
    account: 'k2',
    events: ['View'],
  },
  { name: 'the identity of the visitor', url: 'https://api.indicative.com/service/identify', body: '{}', events: [] },
  { name: 'a broken body', url: EVENT, body: '{', events: [], error: 'Indicative: the body is not JSON' },
  { name: 'the website', url: 'https://www.indicative.com/', events: null },
])
