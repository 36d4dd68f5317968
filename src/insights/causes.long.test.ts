import { expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { addToDay } from '../compliance/consent-store.ts'
import { recordSightings } from '../compliance/store.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'

const rule = (vendors: string[]) => ({
  name: 'Has a value',
  alertType: 'data_validation',
  severity: 'high',
  period: '1h',
  impactValue: 100,
  vendors,
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'equals', values: ['bad'] }] },
  channels: [{ type: 'email', target: 'owners' }],
})

interface Property {
  id: string
  token: string
}

/** Sends a day of shop traffic: every 20 minutes, two tag manager reports and requests to two vendors. */
async function aDay(world: TestApp, { token }: Property): Promise<void> {
  for (let at = 0; at < DAY_MS + 2 * HOUR_MS; at += 20 * MINUTE_MS) {
    world.clock.advance(20 * MINUTE_MS)
    await visit(world, token, { reports: 2 })
  }
}

async function visit(world: TestApp, token: string, { reports = 0, failed = 0, bad = 0 }): Promise<void> {
  const tags = Array.from({ length: reports }, () => ({ container: 'GTM-1', tagId: '7', event: 'load' }))
  const events = Array.from({ length: 10 }, (_, n) => ({
    vendor: n % 2 ? 'GA' : 'Meta',
    event: 'buy',
    status: n < failed ? 'failure' : 'ok',
    params: { value: n < bad ? 'bad' : '1' },
  }))
  await world.collect(token, { tags, events })
}

const property = async (world: TestApp, name: string): Promise<Property> =>
  (await world.call('POST', '/v1/domains', { body: { name } })).body

const causes = async (world: TestApp, query = '') =>
  (await world.call('GET', `/v1/insights/causes${query}`)).body.causes

const settle = (world: TestApp) => world.at(world.clock.now() + 10 * SECOND_MS)

test('without issues there are no causes, and an unknown domain is rejected', async () => {
  await using world = await testApp()
  expect(await causes(world)).toEqual([])
  expect((await world.call('GET', '/v1/insights/causes?domainId=dom_none')).status).toBe(404)
})

test.each<[string, Parameters<typeof visit>[2], object]>([
  ['tag', { reports: 2, bad: 1 }, { title: 'Meta on Shop', vendor: 'Meta' }],
  ['container', { bad: 1 }, { title: 'Reports from the tag manager stopped on Shop', vendor: null }],
  ['vendor', { reports: 2, bad: 1, failed: 5 }, { title: 'Meta has a problem', vendor: 'Meta' }],
])('the cause is found after a normal day: %s', async (kind, last, expected) => {
  await using world = await testApp()
  const shop = await property(world, 'Shop')
  await world.call('POST', '/v1/alerts', { body: rule([]) })
  await aDay(world, shop)
  world.clock.advance(20 * MINUTE_MS)
  await visit(world, shop.token, last)
  await settle(world)
  const [cause, ...others] = await causes(world)
  expect(others).toEqual([])
  expect(cause).toMatchObject({ kind, ...expected, domainId: shop.id, severity: 'high', impactValue: 100 })
  const { body } = await world.call('GET', `/v1/issues/${cause.issueIds[0]}/evidence`)
  expect(body.cause).toEqual({ kind, title: cause.title, changeId: null })
  await world.call('PATCH', `/v1/issues/${cause.issueIds[0]}`, { body: { status: 'resolved' } })
  expect(await causes(world)).toEqual([])
  expect((await world.call('GET', `/v1/issues/${cause.issueIds[0]}/evidence`)).body.cause).toBeNull()
})

test('a vendor with issues in two domains is the cause, even when each domain is queried separately', async () => {
  await using world = await testApp()
  const [shop, blog] = [await property(world, 'Shop'), await property(world, 'Blog')]
  await world.call('POST', '/v1/alerts', { body: rule([]) })
  await visit(world, shop.token, { bad: 1 })
  await settle(world)
  world.clock.advance(HOUR_MS)
  await visit(world, blog.token, { bad: 1 })
  await settle(world)
  const [cause] = await causes(world)
  expect(cause).toMatchObject({ kind: 'vendor', vendor: 'Meta', domainId: null, impactValue: 200 })
  expect(cause.issueIds).toHaveLength(2)
  for (const { id } of [shop, blog]) {
    expect(await causes(world, `?domainId=${id}`)).toMatchObject([
      { kind: 'vendor', domainId: id, issueIds: [expect.any(String)] },
    ])
  }
})

test.each<[number, string, string, string]>([
  [119, 'known', 'consent', 'no_signal'],
  [119, 'known', 'consent', 'after_denial'],
  [119, 'unknown', 'tag', 'no_signal'],
  [121, 'known', 'tag', 'no_signal'],
])(
  'for a consent finding %d minutes before the issue, with the earlier consent state %s, the cause is "%s" (%s)',
  async (minutes, before, kind, problem) => {
    await using world = await testApp()
    const shop = await property(world, 'Shop')
    await world.call('POST', '/v1/alerts', { body: rule([]) })
    const at = world.clock.now()
    const seen = {
      orgId: world.owner.orgId,
      domainId: shop.id,
      vendor: 'GA',
      key: '$consent',
      kind: problem,
      count: 1,
    }
    if (before === 'known') {
      const day = Math.floor(at / DAY_MS - 1) * DAY_MS
      addToDay(world.app.db, { domainId: shop.id, vendor: 'GA', day, kind: '', count: 5 })
    }
    const words = {
      no_signal: 'GA now sends requests without a consent signal',
      after_denial: 'GA now sends requests after consent was denied',
    }[problem]
    const sighting = { ...seen, example: 'GA sends without a signal', firstSeenAt: at, lastSeenAt: at }
    recordSightings(world.app.db, [sighting], { privacyOf: () => PLAIN_PRIVACY })
    world.clock.advance(minutes * MINUTE_MS)
    await visit(world, shop.token, { bad: 1 })
    await settle(world)
    expect(await causes(world)).toMatchObject([
      kind === 'consent' ? { kind, vendor: 'GA', since: at, title: `Consent changed: ${words} on Shop` } : { kind },
    ])
  },
)

test('after a release and a settings change, the more recent of the two is the cause', async () => {
  await using world = await testApp()
  const shop = await property(world, 'Shop')
  await world.call('POST', '/v1/alerts', { body: rule([]) })
  const told = { domainId: shop.id, source: 'ci', ref: '42', title: 'Release 42', windowMinutes: 60 }
  const { body: release } = await world.call('POST', '/v1/changes', { body: told })
  world.clock.advance(10 * MINUTE_MS)
  await visit(world, shop.token, { bad: 1 })
  await settle(world)
  expect(await causes(world)).toMatchObject([
    { kind: 'release', title: 'Release 42', changeId: release.id, since: release.occurredAt, vendor: null },
  ])
  world.clock.advance(MINUTE_MS)
  await world.call('PUT', `/v1/domains/${shop.id}/page-view-sampling`, { body: { prodRate: 0.5 } })
  world.clock.advance(10 * MINUTE_MS)
  const { body: other } = await world.call('POST', '/v1/alerts', { body: { ...rule(['GA']), name: 'Another' } })
  const events = [{ vendor: 'GA', event: 'buy', params: { value: 'bad' } }]
  await world.collect(shop.token, { events })
  await settle(world)
  const { issues } = (await world.call('GET', `/v1/issues?alertId=${other.id}`)).body
  const found = await causes(world)
  const own = found.find(({ issueIds }: { issueIds: string[] }) => issueIds.includes(issues[0].id))
  expect(own).toMatchObject({ kind: 'release', title: expect.stringContaining('Page views are kept for 50 %') })
  expect(own.changeId).not.toBe(release.id)
})

test('a collection gap at the start of an issue is the cause of the issue', async () => {
  await using world = await testApp()
  const shop = await property(world, 'Shop')
  await world.call('POST', '/v1/alerts', { body: rule([]) })
  await world.run('heartbeat')
  world.clock.advance(30 * MINUTE_MS)
  await world.run('heartbeat')
  await visit(world, shop.token, { bad: 1 })
  await settle(world)
  expect(await causes(world)).toMatchObject([{ kind: 'pipeline', vendor: null, domainId: shop.id }])
})

test('issues that follow a drop in all traffic share that cause, and an earlier issue keeps its own cause', async () => {
  await using world = await testApp()
  const shop = await property(world, 'Shop')
  // Enough days for signals to have a baseline.
  for (let at = 0; at < 8 * DAY_MS; at += 20 * MINUTE_MS) {
    world.clock.advance(20 * MINUTE_MS)
    await visit(world, shop.token, { reports: 2 })
  }
  await world.run('flush', 'automatic alerts')
  const { conditions: _, ...watching } = rule(['Meta'])
  const few = { ...watching, alertType: 'volume_threshold', volume: { op: 'lte', count: 3 } }
  expect((await world.call('POST', '/v1/alerts', { body: few })).status).toBe(201)
  await world.call('POST', '/v1/alerts', { body: rule(['GA']) })
  await visit(world, shop.token, { reports: 2, bad: 2 })
  await settle(world)
  for (let ticks = 0; ticks < 36; ticks++) {
    world.clock.advance(5 * MINUTE_MS)
    await world.run('flush', 'evaluate', 'evaluate series')
  }
  const { issues } = (await world.call('GET', '/v1/issues')).body
  const idsOf = (alertType: string) =>
    issues.flatMap((issue: { id: string; alertType: string }) => (issue.alertType === alertType ? [issue.id] : []))
  const [anomalies, thresholds] = [idsOf('volume_anomaly'), idsOf('volume_threshold')]
  // Signals that drop together with their domain do not open separate issues.
  expect([anomalies.length, thresholds.length]).toEqual([1, 1])
  const title = expect.stringContaining('all traffic of the domain dropped')
  const detail = '2 issues began when all traffic of the domain dropped.'
  const found = await causes(world)
  expect(found).toMatchObject([
    { kind: 'traffic', title, detail, domainId: shop.id },
    { kind: 'tag', vendor: 'GA', issueIds: idsOf('data_validation') },
  ])
  expect(found[0].issueIds.toSorted()).toEqual([...anomalies, ...thresholds].toSorted())
})
