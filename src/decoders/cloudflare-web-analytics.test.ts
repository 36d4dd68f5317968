import { cloudflareWebAnalytics } from './cloudflare-web-analytics.ts'
import { testDecoder } from './decoder-cases.ts'

const report = (eventType: number) =>
  JSON.stringify({ eventType, siteToken: 'TOKEN1', location: 'https://shop.example/', timings: { dns: 1 } })

// https://developers.cloudflare.com/web-analytics/
testDecoder(cloudflareWebAnalytics, [
  {
    name: 'a page load',
    url: 'https://cloudflareinsights.com/cdn-cgi/rum',
    body: report(1),
    account: 'TOKEN1',
    events: ['Load'],
    params: { location: 'https://shop.example/', 'timings.dns': '1' },
  },
  {
    name: "web vitals on the customer's host",
    url: 'https://shop.example/cdn-cgi/rum?',
    body: report(3),
    account: 'TOKEN1',
    events: ['WebVitalsV2'],
  },
  {
    name: 'the library',
    url: 'https://static.cloudflareinsights.com/beacon.min.js/v1a2b3',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://shop.example/cdn-cgi/rum',
    body: '{',
    events: [],
    error: 'Cloudflare Web Analytics: the body is not JSON',
  },
  { name: 'another Cloudflare request', url: 'https://shop.example/cdn-cgi/trace', events: null },
])
