import { expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { type TestApp, testApp } from '../test-app.ts'

const GA = 'Google Analytics 4'
const channels = [{ type: 'email', target: 'ann@example.com' }]
const labelIs = (op: 'equals' | 'not_equals', ...values: string[]) => ({ parameter: '$label', op, values })
/** Returns a rule that events with the label violate. */
const rule = (label: string, op: 'equals' | 'not_equals' = 'equals') => ({
  name: `Events with ${label}`,
  alertType: 'data_validation',
  conditions: { logic: 'all', items: [labelIs(op, label)] },
  period: '1h',
  channels,
})

async function setUp(app: TestApp) {
  const { call } = app
  const domain = (await call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const post = async (path: string, body: unknown) => (await call('POST', path, { body })).body
  return {
    domain,
    post,
    assign: (label: string, ...members: [vendor: string, event: string][]) =>
      post('/v1/insights/labels/assign', { label, members: members.map(([vendor, event]) => ({ vendor, event })) }),
    unassign: (label: string, ...members: [vendor: string, event: string][]) =>
      post('/v1/insights/labels/unassign', { label, members: members.map(([vendor, event]) => ({ vendor, event })) }),
    /** Sends events of one session, 1 ms apart. */
    async send(sessionId: string, ...events: [vendor: string, event: string][]) {
      for (const [vendor, event] of events) {
        app.clock.advance(1)
        await app.collect(domain.token, {
          sessionId,
          page: { url: 'https://shop.example/' },
          events: [{ vendor, event, params: { a: '1' } }],
        })
      }
    },
    /** Returns the names of events that violated the rule when they were received, in order. */
    async broken(alertId: string): Promise<string[]> {
      const { events } = (await call('GET', '/v1/events?limit=200')).body
      const found = events.filter(({ violations }: { violations: string[] | null }) => violations?.includes(alertId))
      return found.map(({ event }: { event: string }) => event).reverse()
    },
    async found(label: string): Promise<string[]> {
      const { events } = (await call('GET', `/v1/events?label=${encodeURIComponent(label)}`)).body
      return events.map(({ event }: { event: string }) => event).reverse()
    },
  }
}

test('events are evaluated with the labels at the time of receipt, and searched with the current labels', async () => {
  await using app = await testApp()
  const { post, assign, unassign, send, broken, found } = await setUp(app)
  const { id } = await post('/v1/alerts', rule('checkout'))
  const not = await post('/v1/alerts', { ...rule('Checkout', 'not_equals'), name: 'Others' })
  await send('one', [GA, 'a'])
  await assign('Checkout', [GA, 'b'], ['Meta Pixel', ''])
  await send('one', [GA, 'b'], ['Meta Pixel', 'c'], [GA, 'd'])
  await unassign('checkout', [GA, 'b'])
  await send('one', [GA, 'e'], [GA, 'b'])
  expect(await broken(id)).toEqual(['b', 'c'])
  expect(await broken(not.id)).toEqual(['a', 'd', 'e', 'b'])
  expect(await found('CHECKOUT')).toEqual(['c'])
  expect(await found('unknown')).toEqual([])

  const [{ id: labelId }] = (await app.call('GET', '/v1/insights/labels')).body.labels
  expect((await app.call('DELETE', `/v1/insights/labels/${labelId}`)).status).toBe(200)
  await send('one', ['Meta Pixel', 'f'])
  expect(await broken(id)).toEqual(['b', 'c'])
  expect(await found('checkout')).toEqual([])
  await assign('Checkout', ['Meta Pixel', ''])
  await send('one', ['Meta Pixel', 'g'])
  expect(await broken(id)).toEqual(['b', 'c', 'g'])
  await app.restart()
  await send('one', ['Meta Pixel', 'h'], [GA, 'i'])
  expect(await broken(id)).toEqual(['b', 'c', 'g', 'h'])
})

test('a label is combined with a segment in rules and in the search', async () => {
  await using app = await testApp()
  const { domain, post, assign, broken } = await setUp(app)
  await assign('Checkout', [GA, 'pay'])
  const inSafari = { parameter: '$browser', op: 'equals', values: ['Safari'] }
  const { id } = await post('/v1/alerts', { ...rule('Checkout'), filters: [inSafari] })
  const agents = {
    Safari:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    Firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0',
  }
  for (const [sessionId, userAgent] of Object.entries(agents)) {
    for (const event of ['pay', 'view']) {
      const events = [{ vendor: GA, event, params: { a: '1' } }]
      await app.collect(domain.token, { sessionId, userAgent, events })
    }
  }
  expect(await broken(id)).toEqual(['pay'])
  const { body } = await app.call('GET', '/v1/events?label=Checkout&param=$browser=Safari')
  expect(body.events).toMatchObject([{ event: 'pay', sessionId: 'Safari' }])
})

test('a dry run by an assistant changes no labels or rules', async () => {
  await using app = await testApp()
  const { post, send, broken } = await setUp(app)
  const { id } = await post('/v1/alerts', rule('Checkout'))
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'assign_label',
      arguments: { label: 'Checkout', members: [{ vendor: GA, event: '' }], dryRun: true },
    },
  }
  const headers = { accept: 'application/json, text/event-stream' }
  expect((await app.call('POST', '/mcp', { body: call, headers })).status).toBe(200)
  await send('one', [GA, 'a'])
  expect(await broken(id)).toEqual([])
  expect((await app.call('GET', '/v1/insights/labels')).body.labels).toEqual([])
})

test("the issue contains the label's name, and its evidence shows events with the label", async () => {
  await using app = await testApp()
  const { post, assign, send } = await setUp(app)
  const input = { ...rule('Checkout'), filters: [labelIs('not_equals', 'Tests')] }
  const { id } = await post('/v1/alerts', input)
  await assign('Checkout', [GA, 'b'])
  await send('one', [GA, 'a'], [GA, 'b'])
  app.clock.advance(1000)
  await app.run('evaluate', 'deliver')
  const { issues } = (await app.call('GET', `/v1/issues?alertId=${id}`)).body
  expect(issues).toHaveLength(1)
  expect(issues[0].title).toContain('had the label "Checkout"')
  const { body } = await app.call('GET', `/v1/issues/${issues[0].id}/evidence`)
  expect(body.events.map(({ event }: { event: string }) => event)).toEqual(['b'])
  expect(body.alert.filters).toEqual(input.filters)
  expect(body.alert.conditions).toEqual(input.conditions)
})

test('preview and backtest use the current labels', async () => {
  await using app = await testApp()
  const { post, assign, send } = await setUp(app)
  await send('one', [GA, 'a'], [GA, 'b'], ['Meta Pixel', 'b'])
  app.clock.advance(2 * HOUR_MS)
  await app.run('flush')
  const matched = async (label: string, op?: 'not_equals') => {
    const { matched } = await post('/v1/alerts/preview', { rule: rule(label, op) })
    const { buckets } = await post('/v1/alerts/backtest', { rule: rule(label, op), days: 7 })
    const inPast = buckets.reduce((sum: number, { matchCount }: { matchCount: number }) => sum + matchCount, 0)
    expect(inPast).toBe(matched)
    return matched
  }
  expect([await matched('B'), await matched('B', 'not_equals')]).toEqual([0, 3])
  await assign('b', [GA, 'b'])
  expect([await matched('B'), await matched('B', 'not_equals')]).toEqual([1, 2])
  await assign('b', ['Meta Pixel', ''])
  expect([await matched('B'), await matched('B', 'not_equals')]).toEqual([2, 1])
  const count = {
    name: 'Few',
    alertType: 'volume_threshold',
    volume: { op: 'gte', count: 2 },
    period: '1h',
    channels,
    filters: [labelIs('equals', 'b')],
  }
  expect((await post('/v1/alerts/preview', { rule: count })).matched).toBe(1)
})

test("a journey by label uses the label's members at the time of evaluation", async () => {
  await using app = await testApp()
  const { post, assign, send } = await setUp(app)
  const journey = (label: string, expected: object) => ({
    name: `After ${label}`,
    alertType: 'journey',
    period: '1h',
    channels,
    journey: { version: 2, steps: [{ anchor: { kind: 'label', label }, expect: [expected] }] },
  })
  const told = await post('/v1/alerts', journey('Checkout', { label: 'Conversion' }))
  const paid = await post('/v1/alerts', journey('Checkout', { vendor: GA, data: [labelIs('equals', 'Conversion')] }))
  await assign('Checkout', [GA, 'begin_checkout'])
  await send('told', [GA, 'begin_checkout'], [GA, 'purchase'])
  await send('untold', [GA, 'begin_checkout'])
  await assign('Conversion', [GA, 'purchase'], ['Meta Pixel', ''])
  for (const input of [told, paid]) {
    const { id, orgId, createdAt, updatedAt, ...rule } = input
    expect((await post('/v1/alerts/preview', { rule })).matched).toBe(0)
  }
  await app.at(Math.ceil((app.clock.now() + 31 * MINUTE_MS) / HOUR_MS) * HOUR_MS + 1000)
  for (const { id } of [told, paid]) {
    const { issues } = (await app.call('GET', `/v1/issues?alertId=${id}`)).body
    expect(issues).toMatchObject([{ occurrences: 1 }])
    const { body } = await app.call('GET', `/v1/issues/${issues[0].id}/evidence`)
    expect(body.goodSample?.event).toBe(id === paid.id ? 'purchase' : undefined)
  }
  await assign('Conversion', [GA, 'begin_checkout'])
  const { id, orgId, createdAt, updatedAt, ...rule } = told
  expect((await post('/v1/alerts/preview', { rule })).matched).toBe(0)
})

test.each<[object, string]>([
  [{ parameter: '$label', op: 'contains', values: ['a'] }, 'op: $label allows only equals and not_equals'],
  [{ parameter: '$label', op: 'is_blank' }, 'op: $label allows only equals and not_equals'],
  [{ parameter: '$label', op: 'regex', values: ['('] }, 'op: $label allows only equals and not_equals'],
  [{ parameter: '$label', op: 'equals', values: [] }, 'values: at least one value is required for equals'],
  [{ parameter: '$label', op: 'not_equals' }, 'values: at least one value is required for not_equals'],
  [{ parameter: '$labels', op: 'equals', values: ['a'] }, 'parameter: $labels is not an event field'],
])('%j is rejected: %s', async (condition, error) => {
  await using app = await testApp()
  const items = [condition]
  const refused = await app.call('POST', '/v1/alerts', { body: { ...rule('a'), conditions: { logic: 'any', items } } })
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(`conditions.items[0].${error}`)])
  const filtered = await app.call('POST', '/v1/alerts', { body: { ...rule('a'), filters: items } })
  expect([filtered.status, filtered.body.error]).toEqual([400, expect.stringContaining(`filters[0].${error}`)])
  const steps = [{ anchor: { kind: 'session' }, expect: [{ vendor: GA, data: items }] }]
  const body = { name: 'J', alertType: 'journey', period: '1h', channels, journey: { version: 2, steps } }
  const inJourney = await app.call('POST', '/v1/alerts', { body })
  expect([inJourney.status, inJourney.body.error]).toEqual([
    400,
    expect.stringContaining(`journey.steps[0].expect[0].data[0].${error}`),
  ])
})
