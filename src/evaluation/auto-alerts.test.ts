import { describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { readAlertInput } from '../alerts/alert-input.ts'
import { findAlert, MAX_ALERTS } from '../alerts/alert-store.ts'
import { autoAlertInput, autoAlertOf, domainsWithAutoAlert } from '../alerts/auto-alert.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { applyFindings } from '../issues/store.ts'

interface Shop {
  id: string
  token: string
}

let made = 0

async function domainOf(world: TestApp, name = `Shop ${++made}`, headers = {}): Promise<Shop> {
  return (await world.call('POST', '/v1/domains', { body: { name }, headers })).body
}

/** Sends events evenly distributed over this number of names. */
async function send(world: TestApp, { token }: Shop, count: number, names = 1) {
  const events = Array.from({ length: count }, (_, n) => ({ vendor: 'Shop', event: `e${n % names}` }))
  expect((await world.collect(token, { events })).status).toBe(202)
  world.clock.advance(5 * SECOND_MS)
  await world.run('flush')
}

async function alertsOf(world: TestApp, headers = {}) {
  return (await world.call('GET', '/v1/alerts', { headers })).body.alerts
}

/** Returns a domain that has its automatic alert. */
async function watched(world: TestApp, name?: string) {
  const shop = await domainOf(world, name)
  await send(world, shop, 100)
  world.clock.advance(DAY_MS)
  await world.run('automatic alerts')
  const alert = autoAlertOf(world.app.db, { orgId: world.owner.orgId, domainId: shop.id })
  if (!alert) throw new Error('the domain has no automatic alert')
  return { shop, alert }
}

describe('a domain', () => {
  test.each<[string, number, number, number, number]>([
    ['without events', 0, 1, 0, 0],
    ['with 99 events of one kind', 99, 1, 0, 0],
    ['with 100 events of one kind', 100, 1, 0, 1],
    ['with 300 events of four kinds', 300, 4, 0, 0],
    ['with 100 events of one kind, four weeks ago', 100, 1, 27 * DAY_MS, 1],
    ['with 100 events of one kind, long ago', 100, 1, 40 * DAY_MS, 0],
  ])('gets an automatic alert only if it has enough recent events: %s', async (_, count, names, ageMs, expected) => {
    await using world = await testApp()
    const shop = await domainOf(world)
    if (count > 0) await send(world, shop, count, names)
    world.clock.advance(DAY_MS + ageMs)
    await world.run('automatic alerts', 'automatic alerts')
    expect(await alertsOf(world)).toHaveLength(expected)
  })

  test('gets an ordinary alert', async () => {
    await using world = await testApp()
    const { shop, alert } = await watched(world, 'Shop')
    const listed = await alertsOf(world)
    expect(listed).toEqual([
      {
        id: alert.id,
        orgId: world.owner.orgId,
        name: 'Automatic signals: Shop',
        domainId: shop.id,
        alertType: 'volume_anomaly',
        severity: 'medium',
        volume: { vendor: '*', sensitivity: 5 },
        period: '1h',
        timezone: 'UTC',
        enabled: true,
        channels: [{ type: 'email', target: 'owners' }],
        createdAt: world.clock.now(),
        updatedAt: world.clock.now(),
      },
    ])
    expect(domainsWithAutoAlert(world.app.db)).toEqual([
      { orgId: world.owner.orgId, domainId: shop.id, sensitivity: 5, timezone: 'UTC' },
    ])
  })

  test.each(['x', 'x'.repeat(181), 'x'.repeat(182), '😀'.repeat(127)])('with the name %s has a valid alert', (name) => {
    const input = autoAlertInput({ id: 'dom_1', orgId: 'org_1', name })
    expect(readAlertInput(input)).toEqual(input)
    expect(input.name.isWellFormed()).toBe(true)
    expect(input.name.startsWith('Automatic signals: ')).toBe(true)
  })

  test('in each organization has its own alert', async () => {
    await using world = await testApp()
    const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
    const headers = { 'x-org-id': other.id }
    const theirs = await domainOf(world, 'Shop', headers)
    const mine = await domainOf(world, 'Shop', { 'x-org-id': world.owner.orgId })
    await send(world, theirs, 100)
    await send(world, mine, 100)
    world.clock.advance(DAY_MS)
    await world.run('automatic alerts')
    expect(await alertsOf(world, headers)).toMatchObject([{ orgId: other.id, domainId: theirs.id }])
    expect(await alertsOf(world, { 'x-org-id': world.owner.orgId })).toMatchObject([{ domainId: mine.id }])
  })

  test('gets an alert as soon as the alert limit permits', async () => {
    await using world = await testApp()
    const { db } = world.app
    const insert = db.prepare(
      `INSERT INTO alert (id, orgId, input, enabled, evaluatedThrough, windowStartAt, createdAt, updatedAt)
       VALUES (?, ?, '{}', 0, 0, 0, 0, 0)`,
    )
    db.transaction(() => {
      for (let n = 0; n < MAX_ALERTS; n++) insert.run(`alr_${n}`, world.owner.orgId)
    })()
    const shop = await domainOf(world)
    await send(world, shop, 100)
    world.clock.advance(DAY_MS)
    await world.run('automatic alerts')
    const find = () => autoAlertOf(db, { orgId: world.owner.orgId, domainId: shop.id })
    expect(find()).toBeNull()
    db.exec(`DELETE FROM alert WHERE id = 'alr_7'`)
    await world.run('automatic alerts')
    expect(find()).not.toBeNull()
  })
})

describe('an automatic alert', () => {
  test('retains the changes of a user', async () => {
    await using world = await testApp()
    const { alert } = await watched(world)
    const { id, orgId, createdAt, updatedAt, ...input } = alert
    const channels = [{ type: 'email', target: 'ann@example.com' }]
    const volume = { vendor: '*', sensitivity: 3 }
    const body = { ...input, name: 'Traffic', volume, channels, timezone: 'Europe/Berlin' }
    expect((await world.call('PUT', `/v1/alerts/${id}`, { body })).status).toBe(200)
    await world.run('automatic alerts')
    await world.restart()
    await world.run('automatic alerts')
    expect(await alertsOf(world)).toMatchObject([{ id, name: 'Traffic', volume, channels }])
    expect(domainsWithAutoAlert(world.app.db)).toMatchObject([{ sensitivity: 3, timezone: 'Europe/Berlin' }])
    // Changes made by a user are kept.
    const threshold = { ...input, alertType: 'volume_threshold', volume: { op: 'lte', count: 0 }, channels }
    expect((await world.call('PUT', `/v1/alerts/${id}`, { body: threshold })).status).toBe(200)
    expect(domainsWithAutoAlert(world.app.db)).toMatchObject([{ sensitivity: 5 }])
    await world.call('PUT', `/v1/alerts/${id}`, { body: { ...input, channels, volume: { vendor: '*' } } })
    expect(domainsWithAutoAlert(world.app.db)).toMatchObject([{ sensitivity: 4 }])
    await world.call('PUT', `/v1/alerts/${id}/enabled`, { body: { enabled: false } })
    await world.run('automatic alerts')
    expect([(await alertsOf(world)).length, domainsWithAutoAlert(world.app.db)]).toEqual([1, []])
  })

  test('is never created again after a user deletes it', async () => {
    await using world = await testApp()
    const { shop, alert } = await watched(world)
    expect((await world.call('DELETE', `/v1/alerts/${alert.id}`)).status).toBe(200)
    await send(world, shop, 200)
    await world.run('automatic alerts')
    await world.crash()
    await world.run('automatic alerts')
    expect(await alertsOf(world)).toEqual([])
    expect(domainsWithAutoAlert(world.app.db)).toEqual([])
  })

  test('is deleted with its domain, including its issues', async () => {
    await using world = await testApp()
    const { shop, alert } = await watched(world)
    const { db } = world.app
    const now = world.clock.now()
    const finding = {
      domainId: shop.id,
      subject: 'Shop e0',
      vendor: 'Shop',
      event: 'e0',
      occurrences: 1,
      summary: 'fell',
      observed: 0,
      expected: 9,
      firstAt: now,
      lastAt: now,
      hosts: [],
      sample: null,
      sampleSeq: null,
    }
    const window = { from: now - HOUR_MS, to: now, complete: true }
    const facts = { ...alert, impactValue: null, periodMs: HOUR_MS }
    applyFindings(
      db,
      { alert: facts, findings: [finding], window, windowStartAt: window.from, inRunWindow: true, now },
      () => {},
    )
    await world.call('DELETE', `/v1/domains/${shop.id}`)
    await world.run('automatic alerts')
    expect(await alertsOf(world)).toEqual([])
    const { body } = await world.call('GET', '/v1/issues')
    expect(body.issues).toMatchObject([{ alertId: alert.id, status: 'resolved' }])
    expect(db.prepare('SELECT count(*) FROM signalAlert').pluck().get()).toBe(0)
  })

  test('remains after its domain is deleted if a user added another domain, or all', async () => {
    await using world = await testApp()
    const [first, second] = [await watched(world), await watched(world)]
    const change = (id: string, domains: object) => {
      const {
        id: _,
        orgId,
        createdAt,
        updatedAt,
        domainId,
        ...input
      } = findAlert(world.app.db, {
        orgId: world.owner.orgId,
        id,
      })
      const channels = [{ type: 'email', target: 'ann@example.com' }]
      return world.call('PUT', `/v1/alerts/${id}`, { body: { ...input, channels, ...domains } })
    }
    const other = await domainOf(world)
    expect((await change(first.alert.id, { domainIds: [first.shop.id, other.id] })).status).toBe(200)
    expect((await change(second.alert.id, {})).status).toBe(200)
    for (const { shop } of [first, second]) await world.call('DELETE', `/v1/domains/${shop.id}`)
    await world.run('automatic alerts', 'automatic alerts')
    expect(await alertsOf(world)).toHaveLength(2)
  })

  test('of a deleted organization is deleted', async () => {
    await using world = await testApp()
    const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
    const headers = { 'x-org-id': other.id }
    const shop = await domainOf(world, 'Shop', headers)
    await send(world, shop, 100)
    world.clock.advance(DAY_MS)
    await world.run('automatic alerts')
    expect(await alertsOf(world, headers)).toHaveLength(1)
    await world.call('DELETE', '/v1/org?name=Other', { headers })
    await world.run('automatic alerts')
    expect(world.app.db.prepare('SELECT count(*) FROM signalAlert').pluck().get()).toBe(0)
  })
})
