import { applovinAxon } from './applovin-axon.ts'
import { testDecoder } from './decoder-cases.ts'

// https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api
testDecoder(applovinAxon, [
  ...[
    '{"events":[{"name":"purchase","data":{"value":59.9}},{"name":"search"}]}',
    '[{"name":"purchase","data":{"value":59.9}},{"name":"search"}]',
  ].map((body) => ({
    name: `server events in a body starting with ${body.charAt(0)}`,
    url: 'https://b.applovin.com/v1/event?pixel_id=abc',
    body,
    account: 'abc',
    events: ['purchase', 'search'],
    params: { 'data.value': '59.9' },
  })),
  { name: 'a log', url: 'https://b.applovin.com/v1/log', body: '{"logs":[]}', events: [] },
  { name: 'the library', url: 'https://s.axon.ai/pixel.js', events: [''], kind: 'library' },
  { name: 'the app network', url: 'https://ms.applovin.com/v1/event', body: '{}', events: null },
])
