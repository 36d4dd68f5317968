import { testDecoder } from './decoder-cases.ts'
import { tiktokPixel } from './tiktok-pixel.ts'

const context = { pixel: { code: 'CTESTCODE0' }, page: { url: 'https://shop.example/', referrer: '' } }

// https://ads.tiktok.com/help/article/supported-standard-events
testDecoder(tiktokPixel, [
  {
    name: 'a page event',
    url: 'https://analytics.tiktok.com/api/v2/pixel',
    body: JSON.stringify({
      event: 'AddToCart',
      context,
      properties: { value: 12.5, currency: 'EUR', contents: [{ content_id: 'S1', quantity: 2 }] },
    }),
    account: 'CTESTCODE0',
    events: ['AddToCart'],
    params: {
      'context.page.url': 'https://shop.example/',
      'properties.value': '12.5',
      'properties.contents.0.content_id': 'S1',
    },
  },
  {
    name: 'an automatically detected action',
    url: 'https://analytics.tiktok.com/api/v2/pixel/act',
    body: JSON.stringify({ action: 'Click', context, auto_collected_properties: { page_trigger: 'Click' } }),
    account: 'CTESTCODE0',
    events: ['Click'],
    params: { 'auto_collected_properties.page_trigger': 'Click' },
  },
  {
    name: 'a batch',
    url: 'https://analytics.tiktok.com/api/v2/pixel/batch',
    body: JSON.stringify({ batch: [{ event: 'Pageview', context }, { event: 'ViewContent', context }, null] }),
    account: 'CTESTCODE0',
    events: ['Pageview', 'ViewContent'],
  },
  {
    name: 'server events',
    url: 'https://business-api.tiktok.com/open_api/v1.3/event/track/',
    body: JSON.stringify({
      event_source: 'web',
      event_source_id: 'CTESTCODE0',
      data: [{ event: 'CompletePayment', properties: { value: 3 } }],
    }),
    account: 'CTESTCODE0',
    events: ['CompletePayment'],
    params: { event_source: 'web', 'properties.value': '3' },
  },
  {
    name: 'the first version of the API',
    url: 'https://analytics.tiktok.com/api/v1/track',
    body: JSON.stringify({ event: 'Subscribe', context }),
    account: 'CTESTCODE0',
    events: ['Subscribe'],
  },
  {
    name: 'an event without a name',
    url: 'https://analytics.tiktok.com/api/v2/pixel',
    body: JSON.stringify({ event: '', context }),
    account: 'CTESTCODE0',
    events: [''],
  },
  {
    name: "the library's own report",
    url: 'https://analytics.tiktok.com/api/v2/monitor',
    body: '{}',
    events: [],
  },
  {
    name: 'no body',
    url: 'https://analytics.tiktok.com/api/v2/pixel',
    events: [],
    error: 'TikTok Pixel: the body is missing',
  },
  {
    name: 'a body that is not an object',
    url: 'https://analytics.tiktok.com/api/v2/pixel',
    body: '[1]',
    events: [],
    error: 'TikTok Pixel: the body is not a JSON object',
  },
  {
    name: 'the library',
    url: 'https://analytics.tiktok.com/i18n/pixel/events.js?sdkid=CTESTCODE0&lib=ttq',
    account: 'CTESTCODE0',
    events: [''],
    kind: 'library',
  },
  { name: 'a video', url: 'https://www.tiktok.com/api/v2/pixel', events: null },
  {
    name: 'server test events',
    url: 'https://business-api.tiktok.com/open_api/v1.3/event/track/',
    body: '{"event_source":"web","event_source_id":"C1","test_event_code":"T1","access_token":"s3cret","data":[{"event":"Purchase","event_id":"e1"}]}',
    account: 'C1',
    events: ['Purchase'],
    params: { test_event_code: 'T1', event_id: 'e1' },
    without: ['access_token'],
  },
  {
    name: 'a server event in the old format',
    url: 'https://business-api.tiktok.com/open_api/v1.2/pixel/track/',
    body: '{"pixel_code":"C1","event":"CompletePayment"}',
    account: 'C1',
    events: ['CompletePayment'],
  },
  {
    name: 'server events in the old format',
    url: 'https://business-api.tiktok.com/open_api/v1.2/pixel/batch/',
    body: '{"pixel_code":"C1","batch":[{"event":"A"},{"event":"B"}]}',
    account: 'C1',
    events: ['A', 'B'],
  },
])
