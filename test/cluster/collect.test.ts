import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { clickhouseProblem } from '../engine/clickhouse-server.ts'
import { call, until, WEBHOOK_SECRET, watch } from '../run-program.ts'
import { type CollectorProcess, ProcessCluster } from './process-cluster.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

describe.skipIf(problem !== null)(`collectors as processes${reason}`, () => {
  let cluster: ProcessCluster
  let a: CollectorProcess
  let b: CollectorProcess
  beforeAll(async () => {
    cluster = await ProcessCluster.open()
    a = await cluster.addCollector('a')
    b = await cluster.addCollector('b')
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  const newDomain = (name: string) => cluster.v1('POST', '/domains', { name })
  const send = async (to: CollectorProcess, token: string, batch: object) => {
    const { status, body } = await call('POST', `${to.server.url}/api/v1/events`, { as: token, body: batch })
    return { status, body }
  }
  const readiness = async (to: CollectorProcess) => {
    const { status, body } = await call('GET', `${to.server.url}/readyz`)
    return { status, body }
  }

  test('apply denied hostnames, rules and rotated tokens after their next contact', async () => {
    await using hook = receiver()
    const name = 'rules'
    const { domainId, token, alert } = await watch(String(cluster.control.url), cluster.key, {
      name,
      hookUrl: hook.url,
      secret: WEBHOOK_SECRET,
    })
    await a.synced()
    const batchOf = (host: string, id: string, from: string) => ({
      page: { url: `https://${host}/` },
      events: [{ id, vendor: 'Shop', event: 'purchase', params: { from } }],
    })
    expect(await send(a, token, batchOf('evil.example', 'e1', 'ann@example.com'))).toMatchObject({
      status: 202,
      body: { accepted: 1 },
    })
    await cluster.v1('PUT', `/domains/${domainId}/hostnames/evil.example`, { status: 'denied' })
    const [{ id: alertId }] = (await cluster.v1('GET', '/alerts')).alerts
    await cluster.v1('PUT', `/alerts/${alertId}`, {
      ...alert,
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    })
    const { token: fresh } = await cluster.v1('POST', `/domains/${domainId}/token`)
    await a.synced()
    expect(await send(a, fresh, batchOf('evil.example', 'e2', 'Ann'))).toMatchObject({
      body: { accepted: 0, rejected: 1 },
    })
    expect(await send(a, fresh, batchOf('shop.example', 'e3', 'Ann'))).toMatchObject({
      status: 202,
      body: { accepted: 1 },
    })
    await until('the events', async () => (await cluster.stored(domainId)).size === 2)
    const rows = await cluster.clickhouse.client.select(
      `SELECT id, violated FROM events WHERE domainId = '${domainId}' ORDER BY id`,
    )
    expect(rows).toEqual([
      { id: 'e1', violated: true },
      { id: 'e3', violated: true },
    ])
  })

  test('open issues on the control node, and are listed there', async () => {
    await using hook = receiver()
    const { domainId, token } = await watch(String(cluster.control.url), cluster.key, {
      name: 'issues',
      hookUrl: hook.url,
      secret: WEBHOOK_SECRET,
    })
    await b.synced()
    const events = [{ id: 'mail', vendor: 'Shop', event: 'contact', params: { from: 'ann@example.com' } }]
    expect(await send(b, token, { events })).toMatchObject({ status: 202 })
    await until('the notification', () => hook.requests.length > 0)
    const { issues } = await cluster.v1('GET', `/issues?domainId=${domainId}`)
    expect(issues).toMatchObject([{ occurrences: 1 }])
    const { collectors } = JSON.parse(await cluster.command('collectors', 'list', '--json'))
    expect(collectors).toMatchObject([
      { name: 'a', slot: 1, isAway: false, seenAt: expect.any(Number), lagMs: expect.any(Number) },
      { name: 'b', slot: 2, isAway: false, version: expect.any(String), diskBytes: expect.any(Number) },
    ])
  })

  test('accept events while the control node is absent, and say so', async () => {
    const { id, token } = await newDomain('absence')
    await a.synced()
    expect(await readiness(a)).toMatchObject({ status: 200, body: { ok: true, warnings: [] } })
    a.control.isCut = true
    await until('the warning', async () => {
      const { status, body } = await readiness(a)
      expect(status).toBe(200)
      return /^control: the control node can't be reached: .*, for \d+ s$/.test(body.warnings[0])
    })
    expect(await a.metric('tagwarden_collect_token_refused')).toBe(0)
    await a.stop('SIGKILL')
    await a.start()
    expect(await send(a, token, { events: [{ id: 'x', vendor: 'Shop' }] })).toMatchObject({ status: 202 })
    a.control.isCut = false
    await until('the event', async () => (await cluster.stored(id)).size === 1)
  })

  test('store what they have received when they are stopped', async () => {
    const { id, token } = await newDomain('stop')
    await a.synced()
    expect(await send(a, token, { events: [{ id: 'last', vendor: 'Shop' }] })).toMatchObject({ status: 202 })
    const { server } = a
    await a.stop('SIGTERM')
    expect(server.code()).toBe(0)
    expect([...(await cluster.stored(id))]).toEqual([['last', 1]])
    const lines = server.log().trim().split('\n')
    expect(lines.slice(-2).map((line) => JSON.parse(line).msg)).toEqual([
      'stopping, because the process received SIGTERM',
      'stopped',
    ])
    await a.start()
  })

  test('with a removed token are refused, keep accepting events, and say so', async () => {
    const { token } = await newDomain('removed')
    await b.synced()
    await cluster.command('collectors', 'remove', 'b')
    await until('the metric', async () => (await b.metric('tagwarden_collect_token_refused')) === 1)
    expect(await send(b, token, { events: [{ vendor: 'Shop' }] })).toMatchObject({ status: 202 })
    expect((await readiness(b)).status).toBe(200)
    expect(b.server.log()).toContain('"level":"warn"')
    expect(b.server.log()).toContain('sync: the control node answered 401: authorization: unknown or revoked')
  })
})

describe.skipIf(problem !== null)(`a new collector${reason}`, () => {
  test('is not ready until it has copied the settings', async () => {
    await using cluster = await ProcessCluster.open()
    const { id, token } = await cluster.v1('POST', '/domains', { name: 'Shop' })
    const east = await cluster.addCollector('east', { isCut: true })
    const { url } = east.server
    const batch = { events: [{ id: 'early', vendor: 'Shop' }] }
    const send = () => call('POST', `${url}/api/v1/events`, { as: token, body: batch })
    const message = 'no settings have been copied from the control node yet'
    expect(await send()).toMatchObject({ status: 503, body: { error: message } })
    expect(await call('GET', `${url}/readyz`)).toMatchObject({
      status: 503,
      body: { error: expect.stringContaining(`settings: ${message}`) },
    })
    expect(await call('GET', `${url}/healthz`)).toMatchObject({ status: 200, body: { ok: true } })
    expect((await call('GET', `${url}/v1/domains`)).status).toBe(404)
    east.control.isCut = false
    await until('the collector to be ready', async () => (await call('GET', `${url}/readyz`)).status === 200)
    expect(await send()).toMatchObject({ status: 202 })
    await until('the event', async () => (await cluster.stored(id)).size === 1)
    const script = await fetch(`${url}/t/${token}.json`)
    expect(await script.json()).toMatchObject({ token })
    expect((await fetch(`${url}/t/pt_unknown.js`)).status).toBe(404)
  })
})
