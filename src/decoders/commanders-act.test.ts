import { commandersAct } from './commanders-act.ts'
import { testDecoder } from './decoder-cases.ts'

const COLLECT = 'https://collect.commander1.com/events?tc_s=3806&token=KEY1'

// https://github.com/CommandersAct/Platform-Documentation
testDecoder(commandersAct, [
  {
    name: 'an event',
    url: COLLECT,
    body: '{"event_name":"purchase","value":42.5,"user":{"id":"u1"}}',
    account: '3806',
    events: ['purchase'],
    params: { 'user.id': 'u1' },
  },
  {
    name: 'an event sent as an image request',
    url: `${COLLECT}&event_name=page_view`,
    account: '3806',
    events: ['page_view'],
  },
  {
    name: "on the customer's host",
    url: 'https://data.shop.example/cdp/events?tc_s=3806&token=KEY1',
    body: '{"event_name":"search"}',
    account: '3806',
    events: ['search'],
  },
  {
    name: 'a campaign visit',
    url: 'https://mix.commander1.com/s3/?tcs=3806&chn=mail',
    account: '3806',
    events: ['visit'],
  },
  { name: 'a profile', url: 'https://engage.commander1.com/reach?tc_s=3806', events: [] },
  {
    name: 'a container',
    url: 'https://cdn.tagcommander.com/3806/tc_shop_20.js',
    account: '3806',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the consent banner',
    url: 'https://cdn.trustcommander.net/privacy/3806/privacy_v2_12.js',
    account: '3806',
    events: [''],
    kind: 'library',
  },
  { name: 'a malformed body', url: COLLECT, body: '{', events: [], error: 'Commanders Act: the body is not JSON' },
  { name: 'an unrelated API', url: 'https://shop.example/events?tc_s=x', body: '{}', events: null },
])
