import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/core/clock.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Tests the results of list filters. The data consists of a shop in a project and a magazine in no project, each with
 * an alert, an issue and a delivery. Another organization has its own project.
 */

let world: TestApp
let shop: { id: string; token: string }
let blog: { id: string; token: string }
const projects: Record<string, string> = {}
const alerts: Record<string, string> = {}

const rule = (name: string, more: object) => ({
  name,
  alertType: 'data_validation',
  severity: 'high',
  period: '1h',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'equals', values: ['bad'] }] },
  channels: [{ type: 'webhook', target: 'https://hook.example/' }],
  ...more,
})

beforeAll(async () => {
  const receiver = { send: async () => ({ kind: 'status', status: 200, headers: {}, body: '' }) as const }
  world = await testApp({}, { transport: receiver })
  const make = async (path: string, input: object, headers = {}) => {
    // IDs are ordered by their creation time in milliseconds.
    world.clock.advance(1)
    const { status, body } = await world.call('POST', path, { body: input, headers })
    expect({ status, body }).toMatchObject({ status: 201 })
    return body
  }
  shop = await make('/v1/domains', { name: 'Shop' })
  blog = await make('/v1/domains', { name: 'Magazine 100%' })
  projects.sales = (await make('/v1/projects', { name: 'Sales', domainIds: [shop.id] })).id
  projects.empty = (await make('/v1/projects', { name: 'Empty' })).id
  alerts.shop = (await make('/v1/alerts', rule('Of the shop', { domainId: shop.id }))).id
  alerts.blog = (await make('/v1/alerts', rule('Of the magazine', { domainIds: [blog.id], severity: 'low' }))).id
  const volume = { alertType: 'volume_threshold', conditions: undefined, volume: { op: 'lte', count: 0 } }
  alerts.all = (await make('/v1/alerts', rule('Of_all', { ...volume, enabled: false }))).id
  const events = [
    { vendor: 'GA', event: 'buy', status: 'ok', params: { value: 'bad', mail: 'a@b.example' } },
    { event: 'no vendor' },
  ]
  const visit = { sessionId: 'session-1', page: { url: 'https://shop.example/cart' } }
  const pageStats = { vendors: [{ host: 'www.google-analytics.com', requests: 1, durMs: [5] }] }
  for (const { id: domainId } of [shop, blog]) {
    const body = { domainId, vendor: 'GA', event: 'buy', mode: 'off' }
    await world.call('PUT', '/v1/auto/signals', { body })
  }
  for (const { token } of [shop, blog]) await world.collect(token, { ...visit, events, pageStats })
  world.clock.advance(10 * SECOND_MS)
  await world.run('flush', 'evaluate', 'deliver', 'scan for personal data')
  const headers = { 'x-org-id': (await make('/v1/orgs', { name: 'Other' })).id }
  projects.other = (await make('/v1/projects', { name: 'Others' }, headers)).id
})
afterAll(() => world[Symbol.asyncDispose]())

const get = async (path: string) => {
  const headers = { 'x-org-id': world.owner.orgId }
  return world.call('GET', path, { headers })
}

describe('a project filter', () => {
  const hits = (list: unknown[]) => list.length
  const counts: [path: string, count: (body: Record<string, unknown[]>) => number][] = [
    ['/v1/issues?', ({ issues = [] }) => hits(issues)],
    ['/v1/alerts?enabled=true&', ({ alerts = [] }) => hits(alerts)],
    ['/v1/domains?', ({ domains = [] }) => hits(domains)],
    ['/v1/events?', ({ events = [] }) => hits(events)],
    ['/v1/events/rejected?', ({ rejections = [] }) => hits(rejections)],
    ['/v1/auto/signals?', ({ signals = [] }) => hits(signals)],
    ['/v1/notifications/deliveries?', ({ deliveries = [] }) => hits(deliveries)],
    ['/v1/compliance/pii?', ({ findings = [] }) => hits(findings)],
    ['/v1/usage?', ({ totalEvents }) => Number(totalEvents)],
    ['/v1/insights/volume?', ({ series = [] }) => sum(series, 'observed')],
    [
      '/v1/insights/causes?',
      ({ causes = [] }) =>
        sum(
          causes.flatMap((one) => (one as Cause).issueIds),
          null,
        ),
    ],
    ['/v1/insights/suggestions?', ({ idleAlerts = [] }) => hits(idleAlerts)],
    ['/v1/events/dictionary?', ({ sampledEvents }) => Number(sampledEvents)],
    ['/v1/events/dictionary/flat?', ({ sampledEvents }) => Number(sampledEvents)],
    ['/v1/stats/performance?', ({ vendors = [] }) => sum(vendors, 'events')],
    ['/v1/journeys/flows?', ({ sessionsSampled }) => Number(sessionsSampled)],
    ['/v1/performance/tags?', ({ pagesSampled }) => Number(pagesSampled)],
    ['/v1/reports/weekly?week=2026-W02&', (body) => (body.volume as unknown as { events: number }).events],
  ]
  interface Cause {
    issueIds: string[]
  }
  function sum(items: readonly unknown[], field: string | null): number {
    return items.reduce<number>(
      (sum, item) => sum + (field === null ? 1 : ((item as Record<string, number>)[field] ?? 0)),
      0,
    )
  }

  test.each(counts)('applies to %s', async (path, count) => {
    const of = async (query: string) => {
      const { status, body } = await get(path + query)
      expect({ status, body }).toMatchObject({ status: 200 })
      return count(body)
    }
    const [all, sales, empty] = [
      await of(''),
      await of(`projectId=${projects.sales}`),
      await of(`projectId=${projects.empty}`),
    ]
    const isOneFinding = path.includes('/pii')
    const hasNone = path.includes('suggestions')
    expect([all, sales, empty]).toEqual(hasNone ? [0, 0, 0] : [isOneFinding ? 1 : 2, 1, 0])
    for (const id of ['prj_none', projects.other]) {
      expect(await get(`${path}projectId=${id}`)).toMatchObject({ status: 404, body: { error: 'no such project' } })
    }
  })

  test('with a domain outside the project matches nothing', async () => {
    for (const [path, count] of counts) {
      if (/domains\?|deliveries|usage|weekly/.test(path)) continue
      const { status, body } = await get(`${path}domainId=${blog.id}&projectId=${projects.sales}`)
      expect([path, status, count(body)]).toEqual([path, 200, 0])
    }
  })

  test('with a domain of another organization returns 404', async () => {
    for (const [path] of counts) {
      if (/domains\?|deliveries|usage|weekly|scores|issues|alerts/.test(path)) continue
      expect([path, (await get(`${path}domainId=dom_none`)).status]).toEqual([path, 404])
    }
  })
})

describe('alert filters', () => {
  test.each<[string, string[]]>([
    ['', ['shop', 'blog', 'all']],
    ['q=of%20the', ['shop', 'blog']],
    ['q=OF_', ['all']],
    ['q=%25', []],
    ['enabled=true', ['shop', 'blog']],
    ['enabled=false', ['all']],
    ['alertType=volume_threshold', ['all']],
    ['alertType=volume_threshold,data_validation', ['shop', 'blog', 'all']],
    ['alertType=journey', []],
    ['domainId=SHOP', ['shop', 'all']],
    ['domainId=BLOG', ['blog', 'all']],
    ['domainId=BLOG,SHOP&enabled=true', ['shop', 'blog']],
    ['domainId=dom_none', ['all']],
    ['projectId=SALES', ['shop', 'all']],
    ['projectId=EMPTY', ['all']],
    ['q=shop&domainId=BLOG', []],
  ])('select the expected alerts for “%s”', async (query, expected) => {
    const ids = { SHOP: shop.id, BLOG: blog.id, SALES: projects.sales, EMPTY: projects.empty }
    const asked = query.replaceAll(/[A-Z]{4,}/g, (word) => ids[word as keyof typeof ids] ?? word)
    const { body } = await get(`/v1/alerts?${asked}`)
    const found: string[] = body.alerts.map(({ id }: { id: string }) => id)
    expect(found).toEqual(expected.map((name) => alerts[name] ?? ''))
    expect(body.openIssues).toEqual(Object.fromEntries(found.map((id) => [id, id === alerts.all ? 0 : 1])))
  })

  test('accept IDs and support pagination', async () => {
    expect((await get(`/v1/alerts?q=${alerts.blog}`)).body.alerts).toHaveLength(1)
    const first = (await get('/v1/alerts?q=of%20the&limit=1')).body
    const next = (await get(`/v1/alerts?q=of%20the&limit=1&cursor=${first.nextCursor}`)).body
    expect([...first.alerts, ...next.alerts].map(({ id }) => id)).toEqual([alerts.shop ?? '', alerts.blog ?? ''])
    expect([Object.keys(first.openIssues), next.nextCursor]).toEqual([[alerts.shop], null])
  })
})

test.each<[string, string[]]>([
  ['', ['Shop', 'Magazine 100%']],
  ['q=SHO', ['Shop']],
  ['q=0%25', ['Magazine 100%']],
  ['q=%25%25', []],
  ['q=_', []],
])('the expected domains match the query “%s”', async (query, expected) => {
  const { body } = await get(`/v1/domains?${query}`)
  expect(body.domains.map(({ name }: { name: string }) => name)).toEqual(expected)
  expect(Object.values(body.openIssues)).toEqual(expected.map(() => 1))
})

test('several values of one filter can be separated by commas', async () => {
  const titles = async (query: string) =>
    (await get(`/v1/issues?${query}`)).body.issues.map(({ severity }: { severity: string }) => severity)
  expect(await titles('severity=low,high')).toEqual(['high', 'low'])
  expect(await titles(`alertId=${alerts.blog},alr_none&status=muted,open`)).toEqual(['low'])
  expect(await titles(`domainId=${shop.id},${blog.id}&sort=firstSeenAt`)).toHaveLength(2)
  expect(await titles('status=muted,resolved')).toEqual([])
})

test('an issue that was muted until a certain time reopens afterwards, even if the server was not running at that time', async () => {
  await using own = await testApp()
  const { body: domain } = await own.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  await own.call('POST', '/v1/alerts', {
    body: rule('Of the shop', { channels: [{ type: 'email', target: 'owners' }] }),
  })
  await own.collect(domain.token, { events: [{ vendor: 'GA', event: 'buy', params: { value: 'bad' } }] })
  await own.at(own.clock.now() + 10 * SECOND_MS)
  const [{ id }] = (await own.call('GET', '/v1/issues')).body.issues
  const mutedUntil = own.clock.now() + HOUR_MS
  const muted = await own.call('PATCH', `/v1/issues/${id}`, { body: { status: 'muted', mutedUntil } })
  expect(muted).toMatchObject({ status: 200, body: { status: 'muted', mutedUntil } })
  expect((await own.call('GET', '/v1/issues')).body.issues).toMatchObject([{ status: 'muted', mutedUntil }])
  own.clock.set(mutedUntil - 1)
  await own.run('unmute issues')
  expect((await own.call('GET', `/v1/issues/${id}`)).body.status).toBe('muted')
  await own.restart()
  own.clock.advance(DAY_MS)
  await own.run('unmute issues')
  const { body: issue } = await own.call('GET', `/v1/issues/${id}`)
  expect(issue.status).toBe('open')
  expect(issue).not.toHaveProperty('mutedUntil')
  expect(issue.history.at(-1)).toEqual({ kind: 'unmuted', payload: { by: 'time' }, createdAt: own.clock.now() })
})
