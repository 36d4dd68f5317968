import { adobeMediaAnalytics } from './adobe-media-analytics.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/media-analytics/using/implementation/analytics-only/streaming-media-apis/mc-api-overview
testDecoder(adobeMediaAnalytics, [
  {
    name: 'a session',
    url: 'https://shop.hb-api.omtrdc.net/api/v1/sessions',
    body: JSON.stringify({ eventType: 'sessionStart', params: { 'analytics.reportSuite': 'shopprod' } }),
    account: 'shopprod',
    events: ['sessionStart'],
  },
  {
    name: 'a session event',
    url: 'https://shop.hb-api.omtrdc.net/api/v1/sessions/abc123/events',
    body: JSON.stringify({ eventType: 'adStart', playerTime: { playhead: 12.5 }, params: { 'media.ad.id': 'a1' } }),
    account: 'shop',
    events: ['adStart'],
    params: { 'playerTime.playhead': '12.5', 'params.media.ad.id': 'a1', sessionId: 'abc123' },
  },
  {
    name: "an event on the shop's host",
    url: 'https://media.shop.example/api/v1/sessions/abc123/events',
    body: JSON.stringify({ playerTime: { playhead: 0, ts: 1 }, eventType: 'play' }),
    events: ['play'],
  },
  {
    name: "a shop's own session API",
    url: 'https://shop.example/api/v1/sessions',
    body: '{"user":"u1"}',
    events: null,
  },
  {
    name: 'a heartbeat',
    url: 'https://shop.hb.omtrdc.net/?s:event:type=play&s:sc:rsid=shopprod&l:event:playhead=3',
    account: 'shopprod',
    events: ['play'],
  },
  {
    name: 'a malformed body',
    url: 'https://shop.hb-api.omtrdc.net/api/v1/sessions',
    body: 'x',
    events: [],
    error: 'Adobe Media Analytics: the body is not JSON',
  },
  { name: 'another service', url: 'https://shop.sc.omtrdc.net/b/ss/shopprod/1/JS/s1', events: null },
])
