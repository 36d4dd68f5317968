import { testDecoder } from './decoder-cases.ts'
import { mixpanel } from './mixpanel.ts'

const TRACK = 'https://api-js.mixpanel.com/track/?verbose=1&ip=1'
const event = { event: 'Purchase', properties: { token: 'TOKEN1', value: 42.5 } }
const form = (data: unknown) => `data=${encodeURIComponent(JSON.stringify(data))}`

// https://developer.mixpanel.com/reference/track-event
testDecoder(mixpanel, [
  {
    name: 'an event',
    url: TRACK,
    body: form(event),
    account: 'TOKEN1',
    events: ['Purchase'],
    params: { 'properties.value': '42.5' },
  },
  {
    name: 'several events',
    url: TRACK,
    body: form([{ event: '$mp_web_page_view', properties: { token: 'TOKEN1' } }, event]),
    account: 'TOKEN1',
    events: ['$mp_web_page_view', 'Purchase'],
  },
  {
    name: 'an event in base64 in the query',
    url: `https://api.mixpanel.com/track/?data=${btoa(JSON.stringify(event))}&ip=1`,
    account: 'TOKEN1',
    events: ['Purchase'],
  },
  {
    name: 'server events in JSON',
    url: 'https://api-eu.mixpanel.com/import?strict=1',
    body: JSON.stringify([event, event]),
    account: 'TOKEN1',
    events: ['Purchase', 'Purchase'],
  },
  {
    name: 'person properties',
    url: 'https://api-js.mixpanel.com/engage/?ip=1',
    body: form([
      { $set: { $email: 'a@shop.example' }, $token: 'TOKEN1', $distinct_id: 'u1' },
      { $token: 'TOKEN1', $distinct_id: 'u1', $add: { orders: 1 } },
    ]),
    account: 'TOKEN1',
    events: ['$set', '$add'],
    params: { '$set.$email': 'a@shop.example' },
  },
  {
    name: 'an event through a proxy',
    url: 'https://shop.example/mp/track/?ip=1',
    body: form(event),
    account: 'TOKEN1',
    events: ['Purchase'],
  },
  {
    name: 'person properties through a proxy',
    url: 'https://shop.example/mp/engage/',
    body: form({ $set_once: { plan: 'pro' }, $token: 'TOKEN1' }),
    account: 'TOKEN1',
    events: ['$set_once'],
  },
  { name: 'flags', url: 'https://api-js.mixpanel.com/flags/?token=TOKEN1', events: [] },
  { name: 'session replay', url: 'https://api-js.mixpanel.com/record/?seq=1', body: 'x', events: [] },
  {
    name: 'the library',
    url: 'https://cdn.mxpnl.com/libs/mixpanel-2-latest.min.js',
    events: [''],
    kind: 'library',
  },
  { name: 'malformed data', url: TRACK, body: 'data=%7B', events: [], error: 'Mixpanel: the body is not JSON' },
  { name: 'an unrelated tracker', url: 'https://shop.example/track/?ip=1', body: 'data=x', events: null },
  {
    name: 'an import with one event per line, one of them malformed',
    url: 'https://api.mixpanel.com/import?strict=1&project_id=12',
    body: '{"event":"A","properties":{"token":"TOKEN1"}}\n{"event":\n{"event":"B","properties":{}}\n',
    account: 'TOKEN1',
    events: ['A', 'B'],
  },
  {
    name: 'an import with a project ID',
    url: 'https://api-eu.mixpanel.com/import?project_id=12',
    body: '[{"event":"A","properties":{}}]',
    account: '12',
    events: ['A'],
  },
])
