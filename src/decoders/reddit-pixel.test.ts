import { testDecoder } from './decoder-cases.ts'
import { redditPixel } from './reddit-pixel.ts'

// https://business.reddithelp.com/s/article/reddit-pixel
testDecoder(redditPixel, [
  {
    name: 'an event',
    url: 'https://alb.reddit.com/rp.gif?ts=1&id=t2_abc&event=Purchase&m.valueDecimal=9.5&m.currency=EUR',
    account: 't2_abc',
    events: ['Purchase'],
    params: { 'm.valueDecimal': '9.5' },
  },
  {
    name: 'a custom event in a form',
    url: 'https://alb.reddit.com/rp?id=a2_abc&event=Custom',
    body: 'm.customEventName=Trial',
    account: 'a2_abc',
    events: ['Trial'],
  },
  {
    name: 'the configuration',
    url: 'https://www.redditstatic.com/ads/conversions-config/v1/pixel/config/t2_abc_telemetry',
    account: 't2_abc',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the library',
    url: 'https://www.redditstatic.com/ads/pixel.js?pixel_id=t2_abc',
    account: 't2_abc',
    events: [''],
    kind: 'library',
  },
  { name: "an image on the vendor's website", url: 'https://www.redditstatic.com/logo.png', events: null },
  {
    name: 'server events',
    url: 'https://ads-api.reddit.com/api/v3/pixels/a2_abc/conversion_events',
    body: JSON.stringify({
      data: {
        test_id: 't1',
        events: [
          { type: { tracking_type: 'PURCHASE' }, metadata: { conversion_id: 'e1' } },
          { type: { tracking_type: 'CUSTOM', custom_event_name: 'Quiz' } },
        ],
      },
    }),
    account: 'a2_abc',
    events: ['PURCHASE', 'Quiz'],
    params: { 'metadata.conversion_id': 'e1', test_id: 't1' },
  },
  {
    name: 'server events in the old format',
    url: 'https://ads-api.reddit.com/api/v2.0/conversions/events/a2_abc',
    body: '{"test_mode":true,"events":[{"event_type":{"tracking_type":"Custom","custom_event_name":"Quiz"}}]}',
    account: 'a2_abc',
    events: ['Quiz'],
    params: { test_mode: 'true' },
  },
])
