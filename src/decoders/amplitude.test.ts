import { amplitude } from './amplitude.ts'
import { testDecoder } from './decoder-cases.ts'

const batch = JSON.stringify({
  api_key: 'KEY1',
  events: [
    { event_type: '$identify', user_id: 'u1', library: 'amplitude-ts/2.11.0' },
    { event_type: '[Amplitude] Page Viewed', event_properties: { '[Amplitude] Page Path': '/' } },
    7,
    { event_type: 'Purchase', event_properties: { value: 42.5 } },
  ],
  options: { min_id_length: 1 },
})
const event = { event_type: 'Purchase', event_properties: { value: 42.5 } }

// https://amplitude.com/docs/apis/analytics/http-v2
testDecoder(amplitude, [
  {
    name: 'a batch',
    url: 'https://api2.amplitude.com/2/httpapi',
    body: batch,
    account: 'KEY1',
    events: ['$identify', '[Amplitude] Page Viewed', 'Purchase'],
    params: { user_id: 'u1', 'options.min_id_length': '1' },
  },
  {
    name: 'a large batch in Europe',
    url: 'https://api.eu.amplitude.com/batch',
    body: JSON.stringify({ api_key: 'KEY1', events: [event] }),
    account: 'KEY1',
    events: ['Purchase'],
    params: { 'event_properties.value': '42.5' },
  },
  {
    name: 'through a proxy',
    url: 'https://shop.example/collect/a',
    body: batch,
    account: 'KEY1',
    events: ['$identify', '[Amplitude] Page Viewed', 'Purchase'],
  },
  {
    name: 'the legacy script',
    url: 'https://api.amplitude.com/',
    body: `client=KEY1&v=2&upload_time=1&e=${encodeURIComponent(JSON.stringify([event, event]))}`,
    account: 'KEY1',
    events: ['Purchase', 'Purchase'],
    params: { v: '2', 'event_properties.value': '42.5' },
    without: ['e'],
  },
  {
    name: 'the legacy API',
    url: `https://api.amplitude.com/httpapi?api_key=KEY1&event=${encodeURIComponent(JSON.stringify(event))}`,
    account: 'KEY1',
    events: ['Purchase'],
  },
  {
    name: 'user properties',
    url: 'https://api.amplitude.com/identify',
    body: `api_key=KEY1&identification=${encodeURIComponent('[{"user_id":"u1","user_properties":{"plan":"pro"}}]')}`,
    account: 'KEY1',
    events: ['$identify'],
    params: { 'user_properties.plan': 'pro' },
  },
  {
    name: 'group properties',
    url: 'https://api.amplitude.com/groupidentify',
    body: `api_key=KEY1&identification=${encodeURIComponent('{"group_type":"team"}')}`,
    account: 'KEY1',
    events: ['$groupidentify'],
  },
  { name: 'settings', url: 'https://sr-client-cfg.amplitude.com/config/KEY1?config_group=browser', events: [] },
  { name: 'session replay', url: 'https://api-sr.amplitude.com/sessions/v2/track', body: 'x', events: [] },
  {
    name: 'the library with a key',
    url: 'https://cdn.amplitude.com/script/KEY1.js',
    account: 'KEY1',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the library',
    url: 'https://cdn.amplitude.com/libs/analytics-browser-2.11.0-min.js.gz',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://api2.amplitude.com/2/httpapi',
    body: '{"api_key":',
    events: [],
    error: 'Amplitude: the body is not JSON',
  },
  { name: "the vendor's website", url: 'https://amplitude.com/', events: null },
])
