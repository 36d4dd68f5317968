import { testDecoder } from './decoder-cases.ts'
import { openaiAds } from './openai-ads.ts'

const API = 'https://bzr.openai.com/v1/events?pid=PIX1'

// https://developers.openai.com/ads/measurement-pixel
testDecoder(openaiAds, [
  {
    name: 'an event by image request',
    url: 'https://bzr.openai.com/v1/sdk/events?pid=PIX1&event=order_created&data%5Bamount%5D=5990&event_id=e1',
    account: 'PIX1',
    events: ['order_created'],
    params: { 'data[amount]': '5990', event_id: 'e1' },
  },
  {
    name: 'pixel events, without internal ones',
    url: 'https://bzr.openai.com/v1/sdk/events?pid=PIX1&st=oaiq-web&sv=1&ec=3',
    body: '{"obref":"b","events":[{"type":"openai::sdk_init"},{"id":"e1","type":"page_viewed"},{"type":"custom","custom_event_name":"quiz"}]}',
    account: 'PIX1',
    events: ['page_viewed', 'quiz'],
    params: { id: 'e1', obref: 'b' },
  },
  {
    name: 'server events',
    url: API,
    body: '{"validate_only":false,"events":[{"id":"e1","type":"order_created","data":{"amount":5990}}]}',
    account: 'PIX1',
    events: ['order_created'],
    params: { 'data.amount': '5990' },
  },
  {
    name: 'event validation',
    url: API,
    body: '{"validate_only":true,"events":[{"type":"order_created"}]}',
    events: [],
  },
  { name: 'an ID sync', url: 'https://bzr.openai.com/v1/obi/sync', body: '{}', events: [] },
  { name: 'the library', url: 'https://bzrcdn.openai.com/sdk/oaiq.min.js', events: [''], kind: 'library' },
  { name: 'a malformed body', url: API, body: '{', events: [], error: 'OpenAI Ads: the body is not JSON' },
  { name: 'the model API', url: 'https://api.openai.com/v1/events', body: '{}', events: null },
])
