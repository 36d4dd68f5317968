import { testDecoder } from './decoder-cases.ts'
import { jitsu } from './jitsu.ts'

const call = (fields: object) => JSON.stringify({ ...fields, messageId: 'm1', writeKey: 'KEY1' })

// https://docs.jitsu.com/sending-data/http
testDecoder(jitsu, [
  {
    name: 'a track call',
    url: 'https://data.shop.example/api/s/track',
    body: call({ type: 'track', event: 'purchase', properties: { value: 42.5 } }),
    account: 'KEY1',
    events: ['purchase'],
    params: { 'properties.value': '42.5' },
  },
  {
    name: 'a page call from a server',
    url: 'https://abc.d.jitsu.com/api/s/s2s/page',
    body: call({ type: 'page' }),
    account: 'KEY1',
    events: ['page'],
  },
  {
    name: 'the previous generation',
    url: 'https://t.jitsu.com/api/v1/event?token=js.1.abc',
    body: JSON.stringify([
      { event_type: 'pageview', eventn_ctx: { url: 'https://shop.example/' } },
      { event_type: 'a' },
    ]),
    account: 'js.1.abc',
    events: ['pageview', 'a'],
  },
  { name: 'the library', url: 'https://abc.d.jitsu.com/p.js', events: [''], kind: 'library' },
  { name: 'the legacy library', url: 'https://t.jitsu.com/s/lib.js', events: [''], kind: 'library' },
  { name: 'an unrelated API', url: 'https://shop.example/api/s/track', body: '{"event":"a"}', events: null },
  { name: "the vendor's website", url: 'https://jitsu.com/', events: null },
])
