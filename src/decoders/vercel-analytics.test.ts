import { testDecoder } from './decoder-cases.ts'
import { vercelAnalytics } from './vercel-analytics.ts'

const sent = { o: 'https://shop.example/', sv: '0.1.3', sdkn: '@vercel/analytics/next', ts: 1 }

// https://vercel.com/docs/analytics
testDecoder(vercelAnalytics, [
  {
    name: 'a page view',
    url: 'https://shop.example/_vercel/insights/view',
    body: JSON.stringify(sent),
    events: ['pageview'],
    params: { o: 'https://shop.example/' },
  },
  {
    name: 'an event',
    url: 'https://shop.example/_vercel/insights/event',
    body: JSON.stringify({ ...sent, en: 'purchase', ed: { value: 42.5 } }),
    events: ['purchase'],
    params: { 'ed.value': '42.5' },
  },
  {
    name: 'under a project-specific path',
    url: 'https://shop.example/a1b2c3d4e5f6/view',
    body: JSON.stringify(sent),
    events: ['pageview'],
  },
  {
    name: 'web vitals',
    url: 'https://shop.example/_vercel/speed-insights/vitals',
    body: '{"dsn":"P1","vitals":[{"type":"LCP","value":5}]}',
    account: 'P1',
    events: ['vitals'],
    params: { 'vitals.0.type': 'LCP' },
  },
  {
    name: 'web vitals in the old format',
    url: 'https://vitals.vercel-insights.com/v1/vitals',
    body: 'dsn=P1&id=1',
    events: [],
  },
  { name: 'the library', url: 'https://shop.example/_vercel/insights/script.js', events: [''], kind: 'library' },
  {
    name: 'a malformed body',
    url: 'https://shop.example/_vercel/insights/view',
    body: '{',
    events: [],
    error: 'Vercel Analytics: the body is not JSON',
  },
  { name: 'an unrelated view', url: 'https://shop.example/cart/view', body: '{"o":"https://x"}', events: null },
])
