import { testDecoder } from './decoder-cases.ts'
import { googleAnalytics4 } from './google-analytics-4.ts'

const COLLECT = 'https://region1.google-analytics.com/g/collect?v=2&tid=G-TEST12345&cid=11.22'
const hidden = (text: string) => encodeURIComponent(Buffer.from(text).toString('base64'))

// https://www.thyngster.com/app-web-google-analytics-measurement-protocol-version-2/
testDecoder(googleAnalytics4, [
  {
    name: 'a single event in the query',
    url: `${COLLECT}&dl=https%3A%2F%2Fshop.example%2Fa%3Fb%3Dc&en=sign_up&ep.method=mail&epn.value=12.5&up.plan=gold`,
    account: 'G-TEST12345',
    events: ['sign_up'],
    params: {
      en: 'sign_up',
      dl: 'https://shop.example/a?b=c',
      'ep.method': 'mail',
      'epn.value': '12.5',
      'up.plan': 'gold',
    },
  },
  {
    name: 'one event per line of the body, each with the common parameters',
    url: COLLECT,
    body: 'en=scroll&epn.percent_scrolled=90\r\n\r\nen=click&ep.link_text=a%0Ab&_et=15',
    account: 'G-TEST12345',
    events: ['scroll', 'click'],
    params: { cid: '11.22', 'epn.percent_scrolled': '90' },
  },
  {
    name: 'an event with its name in the query and its parameters in the body',
    url: `${COLLECT}&en=purchase`,
    body: 'ep.transaction_id=T1',
    account: 'G-TEST12345',
    events: ['purchase'],
    params: { 'ep.transaction_id': 'T1' },
  },
  {
    name: 'items with custom fields and a double tilde',
    url: `${COLLECT}&en=view_item&pr1=idA~~1~nmTee~pr9.9~qt2~k0size~v0XL&pr2=idB~c2Men~v1lost`,
    account: 'G-TEST12345',
    events: ['view_item'],
    params: {
      'items.0.item_id': 'A~1',
      'items.0.item_name': 'Tee',
      'items.0.price': '9.9',
      'items.0.quantity': '2',
      'items.0.size': 'XL',
      'items.1.item_id': 'B',
      'items.1.item_category2': 'Men',
      'items.1.v1': 'lost',
    },
    without: ['pr1', 'pr2'],
  },
  {
    name: 'readable consent values',
    url: `${COLLECT}&en=page_view&gcs=G101&gcd=13p3r3l3t5`,
    account: 'G-TEST12345',
    events: ['page_view'],
    params: {
      'consent.ad_storage': 'denied',
      'consent.analytics_storage.history': 'denied by default, granted by update',
    },
  },
  {
    name: 'any host, identified by path and property',
    url: 'https://metrics.shop.example/sub/g/collect?v=2&tid=G-TEST12345&en=page_view',
    account: 'G-TEST12345',
    events: ['page_view'],
  },
  {
    name: 'a server-side container, encoded in the query',
    url: `https://data.shop.example/x7?aci=${hidden('v=2&tid=G-TEST12345&en=add_to_cart&ep.note=ü')}`,
    account: 'G-TEST12345',
    events: ['add_to_cart'],
    params: { 'ep.note': 'ü' },
  },
  {
    name: 'a server-side container, with the path encoded too',
    url: `https://data.shop.example/x7?${hidden('/g/collect?v=2&tid=G-TEST12345&en=search')}`,
    account: 'G-TEST12345',
    events: ['search'],
  },
  {
    name: "any host, identified by the tag gateway's short path",
    url: 'https://shop.example/x/ag/g/c?v=2&tid=G-TEST12345&gtm=45&en=page_view',
    account: 'G-TEST12345',
    events: ['page_view'],
  },
  {
    name: 'an event without a name',
    url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-TEST12345',
    account: 'G-TEST12345',
    events: [''],
  },
  {
    name: 'a ping to the consent mode collector',
    url: 'https://www.google.com/ccm/collect?tid=G-TEST12345&en=page_view&dl=https%3A%2F%2Fshop.example',
    account: 'G-TEST12345',
    events: ['page_view'],
  },
  {
    name: 'a copy of a hit for advertising',
    url: 'https://stats.g.doubleclick.net/g/collect?v=2&tid=G-TEST12345&cid=11.22&aip=1',
    events: [],
  },
  {
    name: 'a conversion that is also sent to Google Ads',
    url: 'https://www.google.com/measurement/conversion?random=1&tid=G-TEST12345&en=purchase',
    events: [],
  },
  {
    // https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference
    name: 'the Measurement Protocol, without its secret',
    url: 'https://www.google-analytics.com/mp/collect?measurement_id=G-TEST12345&api_secret=s3cret',
    body: JSON.stringify({
      client_id: 'c1',
      events: [
        { name: 'refund', params: { currency: 'EUR', value: 3, items: [{ item_id: 'S1' }] } },
        { name: 'login', params: { method: 'app' } },
      ],
    }),
    account: 'G-TEST12345',
    events: ['refund', 'login'],
    params: { client_id: 'c1', 'params.value': '3', 'params.items.0.item_id': 'S1' },
    without: ['api_secret'],
  },
  {
    name: 'the library',
    url: 'https://www.googletagmanager.com/gtag/js?id=G-TEST12345&l=dataLayer',
    account: 'G-TEST12345',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the library from a first-party path',
    url: 'https://shop.example/metrics/gtag/js?id=GT-ABC123',
    account: 'GT-ABC123',
    events: [''],
    kind: 'library',
  },
  { name: 'the library for Google Ads', url: 'https://www.googletagmanager.com/gtag/js?id=AW-123', events: null },
  { name: 'Universal Analytics', url: 'https://www.google-analytics.com/j/collect?v=1&tid=UA-1-1', events: null },
  {
    name: "everything in the body, sent to the shop's host",
    url: 'https://sgtm.shop.example/g/collect',
    body: 'v=2&tid=G-TEST12345&en=page_view',
    account: 'G-TEST12345',
    events: ['page_view'],
  },
  { name: 'a container without events', url: 'https://sgtm.shop.example/g/collect', events: [] },
  { name: 'another vendor under the same path', url: 'https://a.clarity.ms/g/collect', events: null },
  { name: 'the same path on another site', url: 'https://shop.example/g/collect?v=2&tid=42', events: null },
  {
    name: 'an unrelated body under the same path',
    url: 'https://shop.example/g/collect',
    body: '{"groups":1}',
    events: null,
  },
  { name: 'a ping for Google Ads', url: 'https://www.google.com/ccm/collect?tid=AW-1&en=page_view', events: null },
  ...[
    'https://sgtm.shop.example/mp/collect',
    'https://shop.example/data/relay',
    'https://region1.google-analytics.com/mp/collect/',
  ].map((address) => ({
    name: `the Measurement Protocol at ${address}`,
    url: `${address}?measurement_id=G-TEST12345&api_secret=s3cret`,
    body: '{"client_id":"c1","events":[{"name":"purchase","params":{"transaction_id":"O-1"}}]}',
    account: 'G-TEST12345',
    events: ['purchase'],
    params: { client_id: 'c1', 'params.transaction_id': 'O-1' },
    without: ['api_secret'],
  })),
  {
    name: 'the Measurement Protocol for an app',
    url: 'https://sgtm.shop.example/mp/collect?firebase_app_id=1:123:android:abc&api_secret=s3cret',
    body: '{"app_instance_id":"i1","events":[{"name":"purchase"}]}',
    account: '1:123:android:abc',
    events: ['purchase'],
  },
  ...['https://www.google-analytics.com', 'https://sgtm.shop.example'].map((origin) => ({
    name: `Measurement Protocol validation at ${origin}`,
    url: `${origin}/debug/mp/collect?measurement_id=G-TEST12345&api_secret=s3cret`,
    body: '{"client_id":"c1","events":[{"name":"purchase"}]}',
    events: [],
  })),
  {
    name: 'an unrelated relay with a measurement_id',
    url: 'https://shop.example/data?measurement_id=7',
    body: '{"events":[]}',
    events: null,
  },
])
