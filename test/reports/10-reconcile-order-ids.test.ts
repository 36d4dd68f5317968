import { expect, test } from 'bun:test'
import { testApp } from '../test-app.ts'

const POST = 'POST'
const json = JSON.stringify
/** One purchase request per vendor, by the vendor's decoded name. `ID` is replaced with an order id. */
const REQUESTS: [string, string, string?][] = [
  [
    'Google Analytics 4',
    'https://www.google-analytics.com/g/collect?v=2&tid=G-A&en=purchase&ep.transaction_id=ID&epn.value=59.9',
  ],
  ['Meta Pixel', 'https://www.facebook.com/tr/?id=1&ev=Purchase&cd[order_id]=ID&cd[value]=59.9'],
  ['Google Ads', 'https://www.googleadservices.com/pagead/conversion/123456789/?random=1&label=AbC&value=59.9&oid=ID'],
  ['Google Floodlight', 'https://ad.doubleclick.net/activity;src=123;type=sales;cat=buy;qty=1;cost=59.90;ord=ID?'],
  [
    'Adobe Analytics',
    'https://metrics.shop.example/b/ss/rsid1/1/JS-2.22.4/s1',
    'AQB=1&pageName=Thanks&events=purchase&products=;SKU;1;59.9&purchaseID=ID&AQE=1',
  ],
  [
    'Adobe Experience Platform Web SDK',
    'https://edge.adobedc.net/ee/v1/interact?configId=abc',
    json({
      events: [
        { xdm: { eventType: 'commerce.purchases', commerce: { order: { purchaseID: 'ID', priceTotal: 59.9 } } } },
      ],
    }),
  ],
  ['Matomo', 'https://stats.shop.example/matomo.php?idsite=2&rec=1&idgoal=0&ec_id=ID&revenue=59.9&url=x'],
  [
    'Microsoft Advertising UET',
    'https://bat.bing.com/action/0?ti=101&Ver=2&evt=custom&ea=purchase&gv=59.9&gc=EUR&transaction_id=ID',
  ],
  [
    'Awin',
    'https://www.awin1.com/sread.php?tt=ns&tv=2&merchant=123&amount=59.90&cr=EUR&ref=ID&parts=DEFAULT:59.90&ch=aw',
  ],
  ['Criteo OneTag', 'https://sslwidget.criteo.com/event?a=123&v=5.0.0&p0=e%3Dtrackpurchase%26tr%3DID'],
  [
    'Snowplow',
    'https://c.shop.example/com.snowplowanalytics.snowplow/tp2',
    json({
      schema: 'iglu:com.snowplowanalytics.snowplow/payload_data/jsonschema/1-0-4',
      data: [{ e: 'tr', tr_id: 'ID', tr_tt: '59.9', aid: 'shop' }],
    }),
  ],
  [
    'TikTok Pixel',
    'https://analytics.tiktok.com/api/v2/pixel',
    json({ event: 'CompletePayment', context: { pixel: { code: 'C1' } }, properties: { value: 59.9, order_id: 'ID' } }),
  ],
  [
    'Pinterest Tag',
    'https://ct.pinterest.com/v3/?event=checkout&tid=261&ed=%7B%22value%22%3A59.9%2C%22order_id%22%3A%22ID%22%7D',
  ],
  [
    'Klaviyo',
    'https://a.klaviyo.com/client/events/?company_id=ABC123',
    json({
      data: {
        type: 'event',
        attributes: {
          properties: { OrderId: 'ID', value: 59.9 },
          metric: { data: { type: 'metric', attributes: { name: 'Placed Order' } } },
        },
      },
    }),
  ],
  [
    'Piano Analytics',
    'https://abc.pa-cd.com/event?s=123456',
    json({
      events: [{ name: 'transaction.confirmation', data: { transaction_id: 'ID', cart_turnovertaxincluded: 59.9 } }],
    }),
  ],
]

test('an order and its value are found in the purchases of fifteen vendors', async () => {
  await using world = await testApp()
  const { id, token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const at = world.clock.now()
  const order = { id: 'O-1', at, value: 59.9, currency: 'EUR' }
  expect((await world.call('POST', '/v1/orders', { body: { domainId: id, orders: [order] } })).status).toBe(200)
  const hits = REQUESTS.map(([, url, body]) => ({
    url: url.replace('ID', 'O-1'),
    ...(body === undefined ? {} : { method: POST, body: body.replace('"ID"', '"O-1"').replace('=ID&', '=O-1&') }),
  }))
  // A Floodlight counter has a random number in the field where a sale has its order id.
  hits.push({ url: 'https://ad.doubleclick.net/activity;src=123;type=count;cat=view;ord=8471935?' })
  hits.push({ url: 'https://trc.taboola.com/1234/log/3/unip?en=make_purchase&item-url=x' })
  expect((await world.collect(token, { hits })).body).toMatchObject({ rejected: 0 })
  world.clock.advance(3_600_000)
  await world.run('flush')
  const { body } = await world.call('GET', `/v1/insights/reconcile?domainId=${id}&days=2`)
  const found = body.vendors.map((row: Record<string, unknown>) => [
    row.vendor,
    row.captured,
    row.extra,
    row.duplicates,
    row.valueMismatches,
  ])
  expect(body.withoutIds).toEqual([{ vendor: 'Taboola Pixel', purchases: 1 }])
  expect(found).toEqual(REQUESTS.map(([vendor]) => [vendor, 1, 0, 0, 0]).sort())
})

test('vendors whose purchases have no ID are listed, regardless of the name of their purchase event', async () => {
  await using world = await testApp()
  const { id, token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const orders = [{ id: 'O-1', at: world.clock.now(), value: 59.9, currency: 'EUR' }]
  expect((await world.call('POST', '/v1/orders', { body: { domainId: id, orders } })).status).toBe(200)
  const events = [
    ['Pinterest Tag', 'checkout'],
    ['TikTok Pixel', 'PlaceAnOrder'],
    ['Meta Pixel', 'Purchase'],
    // Mixpanel's `checkout` means the start of a checkout, not a purchase.
    ['Mixpanel', 'checkout'],
  ].map(([vendor, event]) => ({ vendor, event, params: { value: 59.9 } }))
  await world.collect(token, { events: [...events, { vendor: 'Shop', event: 'order', params: { order_id: 'O-1' } }] })
  world.clock.advance(3_600_000)
  await world.run('flush')
  const { body } = await world.call('GET', `/v1/insights/reconcile?domainId=${id}&days=2`)
  expect(body.withoutIds).toEqual(
    ['Meta Pixel', 'Pinterest Tag', 'TikTok Pixel'].map((vendor) => ({ vendor, purchases: 1 })),
  )
})
