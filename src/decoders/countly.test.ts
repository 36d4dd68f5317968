import { countly } from './countly.ts'
import { testDecoder } from './decoder-cases.ts'

const BASE = 'app_key=KEY1&device_id=d1&sdk_name=javascript_native_web'
const events = encodeURIComponent(
  JSON.stringify([
    { key: '[CLY]_view', segmentation: { name: '/cart' } },
    { key: 'purchase', count: 1, sum: 42.5 },
  ]),
)

// https://support.countly.com/hc/en-us/articles/9290669873305-A-Guide-to-Building-Your-Own-SDK
testDecoder(countly, [
  {
    name: 'events',
    url: 'https://stats.shop.example/i',
    body: `${BASE}&events=${events}`,
    account: 'KEY1',
    events: ['[CLY]_view', 'purchase'],
    params: { 'segmentation.name': '/cart', device_id: 'd1' },
    without: ['events'],
  },
  {
    name: 'the start of a session',
    url: `https://shop.count.ly/i?${BASE}&begin_session=1&metrics=%7B%7D`,
    account: 'KEY1',
    events: ['begin_session'],
  },
  {
    name: "the visitor's identity",
    url: `https://shop.count.ly/i?${BASE}&user_details=${encodeURIComponent('{"name":"Jo"}')}`,
    account: 'KEY1',
    events: ['user_details'],
    params: { 'user_details.name': 'Jo' },
  },
  {
    name: 'several requests in one',
    url: 'https://stats.shop.example/i/bulk',
    body: `app_key=KEY1&requests=${encodeURIComponent(
      JSON.stringify([{ begin_session: 1 }, { events: [{ key: 'A' }] }, 7]),
    )}`,
    account: 'KEY1',
    events: ['begin_session', 'A'],
  },
  { name: 'only a heartbeat', url: `https://stats.shop.example/i?${BASE}`, events: [] },
  { name: 'settings', url: `https://stats.shop.example/o/sdk?method=rc&${BASE}`, events: [] },
  { name: 'the library', url: 'https://stats.shop.example/sdk/web/countly.min.js', events: [''], kind: 'library' },
  { name: 'an unrelated image', url: 'https://shop.example/i?id=1', events: null },
])
