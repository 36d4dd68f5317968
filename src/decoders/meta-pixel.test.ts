import { testDecoder } from './decoder-cases.ts'
import { metaPixel } from './meta-pixel.ts'

const multipart = [
  '--B7\r\nContent-Disposition: form-data; name="id"\r\n\r\n12345\r\n',
  '--B7\r\nContent-Disposition: form-data; name="ev"\r\n\r\nAddToCart\r\n',
  '--B7\r\nContent-Disposition: form-data; name="cd[value]"\r\n\r\n9.50\r\n',
  '--B7--\r\n',
].join('')

const SERVER_EVENTS = '[{"event_name":"Purchase","event_id":"e1","custom_data":{"value":9.5}},{"event_name":"Lead"}]'
const multipartOf = (fields: Record<string, string>) =>
  `${Object.entries(fields)
    .map(([name, text]) => `--b1\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`)
    .join('')}--b1--\r\n`

testDecoder(metaPixel, [
  {
    name: 'product IDs',
    url: `https://www.facebook.com/tr/?id=123&ev=AddToCart&cd[content_ids]=${encodeURIComponent('["S1","S2"]')}`,
    account: '123',
    events: ['AddToCart'],
    params: { 'cd[content_ids]': '["S1","S2"]', 'cd[content_ids][0]': 'S1', 'cd[content_ids][1]': 'S2' },
  },
  {
    // https://developers.facebook.com/docs/meta-pixel/advanced
    name: 'the image tag',
    url: 'https://www.facebook.com/tr?id=12345&ev=ViewContent&cd[content_name]=ABC%20Sandal&cd[value]=0.50&noscript=1',
    account: '12345',
    events: ['ViewContent'],
    params: { 'cd[content_name]': 'ABC Sandal', 'cd[value]': '0.50' },
  },
  {
    name: "a custom event with its name and the page's URL",
    url: 'https://www.facebook.com/tr/?id=12345&ev=Demo%20booked&dl=https%3A%2F%2Fshop.example%2F%3Fq%3D1',
    account: '12345',
    events: ['Demo booked'],
    params: { dl: 'https://shop.example/?q=1' },
  },
  {
    name: 'everything in a multipart body',
    url: 'https://www.facebook.com/tr/',
    body: multipart,
    account: '12345',
    events: ['AddToCart'],
    params: { 'cd[value]': '9.50' },
  },
  {
    name: 'everything in a form body',
    url: 'https://www.facebook.com/tr/',
    body: 'id=12345&ev=Lead&cd%5Bcurrency%5D=EUR',
    account: '12345',
    events: ['Lead'],
    params: { 'cd[currency]': 'EUR' },
  },
  {
    name: 'products, individually and together',
    url: `https://www.facebook.com/tr/?id=12345&ev=Purchase&cd[contents]=${encodeURIComponent('[{"id":"S1","quantity":2}]')}`,
    account: '12345',
    events: ['Purchase'],
    params: {
      'cd[contents]': '[{"id":"S1","quantity":2}]',
      'cd[contents][0][id]': 'S1',
      'cd[contents][0][quantity]': '2',
    },
  },
  { name: 'structured data in lower case', url: 'https://www.facebook.com/tr/?id=12345&ev=microdata', events: [] },
  { name: 'structured data from the page', url: 'https://www.facebook.com/tr/?id=12345&ev=Microdata', events: [] },
  {
    name: 'structured data from the page, in the body',
    url: 'https://www.facebook.com/tr/',
    body: 'id=12345&ev=Microdata',
    events: [],
  },
  {
    name: 'the repeated request for the Attribution Reporting API',
    url: 'https://www.facebook.com/privacy_sandbox/pixel/register/trigger/?id=12345&ev=Lead',
    events: [],
  },
  {
    name: 'server events, without their secret',
    url: 'https://graph.facebook.com/v21.0/12345/events?access_token=s3cret',
    body: JSON.stringify({ data: [{ event_name: 'Purchase', custom_data: { value: 9.5 } }, { event_name: 'Lead' }] }),
    account: '12345',
    events: ['Purchase', 'Lead'],
    params: { 'custom_data.value': '9.5' },
    without: ['access_token'],
  },
  {
    name: 'the library',
    url: 'https://connect.facebook.net/de_DE/fbevents.js',
    events: [''],
    kind: 'library',
  },
  {
    name: "a pixel's configuration",
    url: 'https://connect.facebook.net/signals/config/12345?v=2.9.1&r=stable',
    account: '12345',
    events: [''],
    kind: 'library',
  },
  { name: 'the social plugin library', url: 'https://connect.facebook.net/en_US/sdk.js', events: null },
  { name: 'a page of the social network', url: 'https://www.facebook.com/shop.example', events: null },
  ...[
    ['a form', '/v25.0/12345', `data=${encodeURIComponent(SERVER_EVENTS)}&access_token=s3cret&test_event_code=T1`],
    [
      'a multipart form',
      '/v25.0/12345',
      multipartOf({ data: SERVER_EVENTS, access_token: 's3cret', test_event_code: 'T1' }),
    ],
    ['JSON with the list as a text', '/v25.0/12345', JSON.stringify({ data: SERVER_EVENTS, test_event_code: 'T1' })],
    [
      'JSON with each event as a string',
      '/12345',
      JSON.stringify({
        data: JSON.parse(SERVER_EVENTS).map((one: object) => JSON.stringify(one)),
        test_event_code: 'T1',
      }),
    ],
    ['JSON without a version', '/12345', `{"data":${SERVER_EVENTS},"test_event_code":"T1","access_token":"s3cret"}`],
    ['the query', `/v9.0/12345/events?data=${encodeURIComponent(SERVER_EVENTS)}&test_event_code=T1&x=`, ''],
  ].map(([name, path, body]) => ({
    name: `server events in ${name}`,
    url: `https://graph.facebook.com${path?.includes('?') ? path : `${path}/events`}`,
    ...(body ? { body } : {}),
    account: '12345',
    events: ['Purchase', 'Lead'],
    params: { event_id: 'e1', 'custom_data.value': '9.5', test_event_code: 'T1' },
    without: ['access_token', 'data'],
  })),
  {
    name: 'a server request without events',
    url: 'https://graph.facebook.com/v21.0/12345/events',
    body: '{}',
    events: [],
  },
  {
    name: 'a malformed list of server events',
    url: 'https://graph.facebook.com/v21.0/12345/events',
    body: 'data=%5B%7B&access_token=s3cret',
    events: [],
    error: 'Meta Pixel: its list of events is not JSON',
  },
  {
    name: 'another object in the graph',
    url: 'https://graph.facebook.com/v21.0/12345/activities',
    body: '{}',
    events: null,
  },
])
