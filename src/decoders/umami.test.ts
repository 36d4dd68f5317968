import { testDecoder } from './decoder-cases.ts'
import { umami } from './umami.ts'

const WEBSITE = '11111111-2222-3333-4444-555555555555'
const payload = { website: WEBSITE, hostname: 'shop.example', url: '/cart', language: 'en' }

// https://umami.is/docs/api/sending-stats
testDecoder(umami, [
  {
    name: 'a page view',
    url: 'https://cloud.umami.is/api/send',
    body: JSON.stringify({ type: 'event', payload }),
    account: WEBSITE,
    events: ['pageview'],
    params: { 'payload.url': '/cart' },
  },
  {
    name: 'an event on a self-hosted server',
    url: 'https://stats.shop.example/api/send',
    body: JSON.stringify({ type: 'event', payload: { ...payload, name: 'purchase', data: { value: 42.5 } } }),
    account: WEBSITE,
    events: ['purchase'],
    params: { 'payload.data.value': '42.5' },
  },
  {
    name: 'under a different path, in the old version',
    url: 'https://shop.example/s/c',
    body: JSON.stringify({ type: 'pageview', payload }),
    account: WEBSITE,
    events: ['pageview'],
  },
  {
    name: "the visitor's identity",
    url: 'https://cloud.umami.is/api/send',
    body: JSON.stringify({ type: 'identify', payload: { ...payload, id: 'u1' } }),
    account: WEBSITE,
    events: ['identify'],
  },
  { name: 'the library', url: 'https://cloud.umami.is/script.js', events: [''], kind: 'library' },
  {
    name: 'a malformed body',
    url: 'https://cloud.umami.is/api/send',
    body: '{',
    events: [],
    error: 'Umami: the body is not JSON',
  },
  { name: 'an unrelated API', url: 'https://shop.example/api/send', body: '{"type":"event"}', events: null },
])
