import { testDecoder } from './decoder-cases.ts'
import { snowplow } from './snowplow.ts'

const HOST = 'https://collector.shop.example'
const SCHEMA = 'iglu:com.snowplowanalytics.snowplow/payload_data/jsonschema/1-0-4'
const self = { schema: 'iglu:x/unstruct_event/1-0-0', data: { schema: 'iglu:shop/order/1-0-0', data: { value: 42.5 } } }
const base = { aid: 'web', p: 'web', tv: 'js-4.1.0' }
const post = JSON.stringify({
  schema: SCHEMA,
  data: [
    { e: 'pv', url: 'https://shop.example/', ...base },
    { e: 'ue', ue_px: btoa(JSON.stringify(self)), ...base },
  ],
})

// https://docs.snowplow.io/
testDecoder(snowplow, [
  {
    name: 'a page view by GET',
    url: `${HOST}/i?stm=1&e=pv&url=https%3A%2F%2Fshop.example%2F&tv=js-4.1.0&aid=web&p=web`,
    account: 'web',
    events: ['page_view'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'several events by POST',
    url: `${HOST}/com.snowplowanalytics.snowplow/tp2`,
    body: post,
    account: 'web',
    events: ['page_view', 'order'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'several events by POST under a custom path',
    url: `${HOST}/com.shop/track`,
    body: post,
    account: 'web',
    events: ['page_view', 'order'],
  },
  {
    name: 'a self-describing event in base64, with context',
    url: `${HOST}/com.snowplowanalytics.snowplow/tp2`,
    body: JSON.stringify({
      schema: SCHEMA,
      data: [{ e: 'ue', ...base, ue_px: btoa(JSON.stringify(self)), co: JSON.stringify({ data: [{ schema: 'c' }] }) }],
    }),
    account: 'web',
    events: ['order'],
    params: { 'ue_pr.data.schema': 'iglu:shop/order/1-0-0', 'ue_pr.data.data.value': '42.5', 'co.data.0.schema': 'c' },
    without: ['ue_px', 'cx'],
  },
  {
    name: 'a structured event',
    url: `${HOST}/i?e=se&se_ca=shop&se_ac=purchase&se_va=42.5&tv=js-4.1.0&aid=web`,
    account: 'web',
    events: ['struct'],
    params: { se_ac: 'purchase' },
  },
  {
    name: 'a self-describing event with malformed data',
    url: `${HOST}/i?e=ue&ue_pr=%7Bbroken&tv=js-4.1.0&aid=web`,
    account: 'web',
    events: ['unstruct'],
    params: { ue_pr: '{broken' },
  },
  { name: 'a request without a body', url: `${HOST}/com.snowplowanalytics.snowplow/tp2`, events: [] },
  {
    name: 'a malformed body',
    url: `${HOST}/com.snowplowanalytics.snowplow/tp2`,
    body: '{"schema":',
    events: [],
    error: 'Snowplow: the body is not JSON',
  },
  {
    name: 'the library',
    url: 'https://cdn.jsdelivr.net/npm/@snowplow/javascript-tracker@4.1.0/dist/sp.js',
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated image', url: `${HOST}/i?e=pv&id=1`, events: null },
  { name: 'an unrelated body', url: `${HOST}/com.shop/track`, body: '{"schema":"x"}', events: null },
  ...[
    ['pp', 'page_ping'],
    ['tr', 'transaction'],
    ['ti', 'transaction_item'],
    ['ad', 'ad_impression'],
  ].map(([code, name]) => ({
    name: `the event name for ${code}`,
    url: `${HOST}/i?e=${code}&tv=js-4.1.0&aid=web`,
    account: 'web',
    events: [`${name}`],
  })),
  {
    name: "a click in the vendor's schema",
    url: `${HOST}/com.snowplowanalytics.snowplow/tp2`,
    body: JSON.stringify({
      schema: SCHEMA,
      data: [
        {
          e: 'ue',
          ...base,
          ue_pr: JSON.stringify({
            data: { schema: 'iglu:com.snowplowanalytics.snowplow/link_click/jsonschema/1-0-1' },
          }),
        },
      ],
    }),
    account: 'web',
    events: ['link_click'],
  },
  {
    name: 'a webhook with a self-describing body',
    url: `${HOST}/com.snowplowanalytics.iglu/v1?aid=shop&p=web`,
    body: '{"schema":"iglu:com.acme/campaign/jsonschema/2-1-1","data":{"user":"1","name":"download"}}',
    account: 'shop',
    events: ['iglu:com.acme/campaign/jsonschema/2-1-1'],
    params: { user: '1', name: 'download', p: 'web' },
  },
  ...['[{"user":"1"}]', '{"user":"1"}', 'user=1', ''].map((body) => ({
    name: `a webhook with its schema in the query and ${body || 'nothing'} in the body`,
    url: `${HOST}/com.snowplowanalytics.iglu/v1?schema=iglu%3Acom.acme%2Fcampaign%2Fjsonschema%2F2-1-1&aid=shop${body ? '' : '&user=1'}`,
    ...(body ? { body } : {}),
    account: 'shop',
    events: ['iglu:com.acme/campaign/jsonschema/2-1-1'],
    params: { user: '1' },
  })),
])
