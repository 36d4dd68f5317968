import { expect, test } from 'bun:test'
import PostalMime from 'postal-mime'
import { DAY_MS } from '../../src/core/clock.ts'
import { mailbox } from '../../src/transport/receiver.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Run by added-alert-type.test.ts in a process whose list of alert types includes the type of order-limit.fixture.ts.
 */

const time = (text: string) => Date.parse(`2026-01-05T${text.padEnd(8, ':00')}Z`)

const channels = [{ type: 'email', target: 'ops@example.com' }]
const order = { name: 'Orders', alertType: 'order_limit', period: '1h', channels }
const limited = { ...order, severity: 'high', limit: { parameter: 'value', most: 100, secret: 'card' } }
const validation = { conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] } }

const save = (world: TestApp, body: object) => world.call('POST', '/v1/alerts', { body })

test('the type is documented wherever types are listed', async () => {
  await using world = await testApp()
  const { body: api } = await world.call('GET', '/openapi.json')
  const { AlertInput, Alert, OrderLimit, IssueEvidence, Issue, AlertPreview } = api.components.schemas
  expect(OrderLimit).toMatchObject({ required: ['parameter', 'most'], additionalProperties: false })
  for (const { properties } of [AlertInput, Alert]) {
    expect(properties.limit).toEqual({ $ref: '#/components/schemas/OrderLimit' })
    expect(properties.alertType.enum.at(-1)).toBe('order_limit')
    expect(properties.alertType.description).toEndWith('. `order_limit`: orders, by `limit`')
    expect(properties.conditions.description).toEndWith('. Not used by `order_limit`')
  }
  for (const { description } of [
    Issue.properties.occurrences,
    AlertPreview.properties.matched,
    IssueEvidence.properties.series,
  ]) {
    expect(description).toContain('; for `order_limit`: orders above the limit')
  }
  const { parameters } = api.paths['/v1/issues'].get
  const kinds = parameters.find(({ name }: { name: string }) => name === 'alertType').schema.items.enum
  expect(kinds).toContain('order_limit')
  const { examples } = api.paths['/v1/alerts'].post.requestBody.content['application/json']
  expect(Object.values(examples).map((one) => (one as { value: { name: string } }).value.name)).toContain(
    'Orders above 100',
  )
})

test('it has a form', async () => {
  await using world = await testApp()
  const { alertTypes } = (await world.call('GET', '/v1/forms')).body
  const form = alertTypes.at(-1)
  expect(form).toMatchObject({ kind: 'order_limit', title: 'Order limit', help: 'Fires for orders above a limit.' })
  expect(form.schema).toMatchObject({ required: ['limit'], additionalProperties: false })
  const { limit } = form.schema.properties
  expect(limit.properties).toMatchObject({
    parameter: { type: 'string', title: 'Parameter', 'x-order': 1, examples: ['value'] },
    most: { type: 'number', title: 'Most', 'x-order': 2 },
    secret: { type: 'string', title: 'Secret', 'x-order': 3 },
  })
})

test.each<[string, object]>([
  ['limit: a order_limit alert requires parameter and most', order],
  ['limit: must be an object', { ...order, limit: 7 }],
  ['limit.parameter: is missing', { ...order, limit: {} }],
  ['limit.parameter: must not be empty', { ...order, limit: { parameter: '', most: 1 } }],
  ['limit.most: must be greater than 0', { ...order, limit: { parameter: 'value', most: 0 } }],
  ['limit.most: must be a number', { ...order, limit: { parameter: 'value', most: '5' } }],
  ['limit.least: there is no such field', { ...order, limit: { parameter: 'value', most: 5, least: 1 } }],
  ['limit.parameter: must name one parameter', { ...order, limit: { parameter: '*', most: 5 } }],
  ['conditions: not allowed in an order_limit alert', { ...limited, ...validation }],
  ['volume: not allowed in a order_limit alert', { ...limited, volume: { op: 'lte', count: 1 } }],
  ['journey: not allowed in a order_limit alert', { ...limited, journey: { steps: [{ event: 'a' }] } }],
  ['limit: not allowed in a data_validation alert', { ...limited, ...validation, alertType: 'data_validation' }],
  ['limit: not allowed in a journey alert', { ...limited, alertType: 'journey' }],
  ['limit: not allowed in a volume_anomaly alert', { ...limited, alertType: 'volume_anomaly' }],
])('rejected when saved: %s', async (error, body) => {
  await using world = await testApp()
  expect(await save(world, body)).toMatchObject({ status: 400, body: { error } })
  const { body: many } = await world.call('POST', '/v1/alerts/bulk', { body: { alerts: [limited, body] } })
  expect(many).toEqual({ created: 1, failed: 1, errors: [{ index: 1, error: `alerts[1].${error}` }] })
  expect(await world.call('POST', '/v1/alerts/preview', { body: { rule: body } })).toMatchObject({
    body: { error: `rule.${error}` },
  })
})

test('it is saved, judged, reported and shown with its own texts', async () => {
  await using post = await mailbox()
  await using world = await testApp({ smtpUrl: `smtp://127.0.0.1:${post.port}`, publicUrl: 'https://watch.example' })
  const { body: shop } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const { status, body: alert } = await save(world, limited)
  expect({ status, alert }).toMatchObject({ status: 201, alert: { ...limited, timezone: 'UTC', enabled: true } })
  expect((await world.call('GET', `/v1/alerts/${alert.id}`)).body).toEqual(alert)

  await world.at(time('12:05'))
  const events = ['50', '150', '2500', 'none'].map((value) => ({
    vendor: 'Shop',
    event: 'purchase',
    params: { value, card: '4111' },
  }))
  const page = { url: 'https://shop.example/thanks' }
  expect((await world.collect(shop.token, { batchId: 'orders-1', page, events })).body).toMatchObject({ accepted: 4 })
  await world.at(time('12:30'))
  expect((await world.call('GET', '/v1/issues')).body.issues).toEqual([])

  await world.at(time('13:00:01'))
  const { issues } = (await world.call('GET', '/v1/issues?alertType=order_limit')).body
  expect(issues).toMatchObject([
    { alertId: alert.id, title: 'Orders: there are orders above the limit', occurrences: 2, severity: 'high' },
  ])

  const mail = await PostalMime.parse(post.mails[0]?.source ?? '')
  expect(mail.subject).toBe('[high] New issue: Orders: there are orders above the limit (Shop)')
  for (const text of ['Orders: 2 orders above 100', 'no order above the limit', '2 orders so far', 'value', '2500']) {
    expect(mail.text).toContain(text)
    expect(mail.html).toContain(text)
  }

  const { body: evidence } = await world.call('GET', `/v1/issues/${issues[0].id}/evidence`)
  expect(evidence).toMatchObject({
    alert: { limit: limited.limit },
    summary:
      'Orders: order values exceed the limit, most recently 2 orders above 100 on Shop, 2 times since 5 Jan 2026, 12:05 UTC.',
    badSample: { params: { value: '2500' } },
    goodSample: { params: { value: '50' } },
    events: [{ params: { value: '2500' } }, { params: { value: '150' } }],
    grain: 'hour',
  })
  const filled = evidence.series.filter(({ observed }: { observed: number }) => observed > 0)
  expect(filled).toEqual([{ start: time('12:00'), observed: 2, expected: 0, low: null, high: 1, partial: false }])
  // Data that the type declares as personal must not appear anywhere.
  for (const text of [JSON.stringify(evidence), mail.text]) expect(text).not.toContain('4111')

  const rule = { ...limited, limit: { parameter: 'value', most: 1000 } }
  const { body: preview } = await world.call('POST', '/v1/alerts/preview', { body: { rule } })
  expect(preview).toMatchObject({ scanned: 4, matched: 1, samples: [{ params: { value: '2500' } }] })
  const { body: backtest } = await world.call('POST', '/v1/alerts/backtest', { body: { rule, days: 7 } })
  expect(backtest.buckets.filter(({ wouldFire }: { wouldFire: boolean }) => wouldFire)).toEqual([
    { start: time('12:00'), matchCount: 1, wouldFire: true },
  ])

  // A changed limit counts as a new rule, which starts from zero. A day without violations resolves the issue.
  const { body: changed } = await world.call('PUT', `/v1/alerts/${alert.id}`, { body: rule })
  expect(changed.limit).toEqual(rule.limit)
  expect(world.app.db.prepare('SELECT evaluatedThrough FROM alert').pluck().get()).toBe(world.clock.now())
  await world.at(time('14:00:01') + DAY_MS)
  const detail = (await world.call('GET', `/v1/issues/${issues[0].id}`)).body
  expect(detail).toMatchObject({ status: 'resolved', occurrenceSeries: [{ day: '2026-01-05', count: 2 }] })
})
