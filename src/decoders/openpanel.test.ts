import { testDecoder } from './decoder-cases.ts'
import { openpanel } from './openpanel.ts'

const TRACK = 'https://api.openpanel.dev/track'
const call = (type: string, payload: object) => JSON.stringify({ type, payload })

// https://openpanel.dev/docs/api/track
testDecoder(openpanel, [
  {
    name: 'an event',
    url: TRACK,
    body: call('track', { name: 'purchase', properties: { value: 42.5 } }),
    events: ['purchase'],
    params: { 'payload.properties.value': '42.5' },
  },
  {
    name: "the visitor's identity",
    url: TRACK,
    body: call('identify', { profileId: 'u1' }),
    events: ['identify'],
    params: { 'payload.profileId': 'u1' },
  },
  {
    name: 'on a self-hosted server',
    url: 'https://op.shop.example/api/track',
    body: call('track', { name: 'screen_view', properties: { __path: 'https://shop.example/' } }),
    events: ['screen_view'],
  },
  {
    name: 'an unrelated API with the same format',
    url: 'https://shop.example/api/track',
    body: call('track', { name: 'purchase', value: 1 }),
    events: null,
  },
  { name: 'session replay', url: TRACK, body: call('replay', { chunk: 1 }), events: [] },
  { name: 'the library', url: 'https://openpanel.dev/op1.js', events: [''], kind: 'library' },
  { name: 'a malformed body', url: TRACK, body: '{', events: [], error: 'OpenPanel: the body is not JSON' },
  {
    name: 'Umami under the same path',
    url: 'https://shop.example/track',
    body: '{"type":"event","payload":{"website":"11111111-2222-3333-4444-555555555555"}}',
    events: null,
  },
  { name: 'an unrelated tracker', url: 'https://shop.example/track', body: '{"event":"a"}', events: null },
])
