import { expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { detectReleases } from './detect-releases.ts'

/**
 * Sends shop traffic with a given number of sessions per minute. In each session, a page view and a purchase are sent
 * to two vendors.
 */
async function trade(world: TestApp, token: string, minutes: number, batch: object = {}, params: object = {}) {
  for (let minute = 0; minute < minutes; minute++) {
    for (let n = 0; n < 4; n++) {
      await world.collect(token, {
        sessionId: `s${world.clock.now()}-${n}`,
        version: 1,
        events: [
          { vendor: 'GA4', event: 'page_view', params: { page: `/p${n}` } },
          {
            vendor: 'GA4',
            event: 'purchase',
            params: { value: 10 + n, currency: 'EUR', transaction_id: `t${n}`, ...params },
          },
          { vendor: 'Meta', event: 'Purchase', params: { value: 10 + n } },
        ],
        ...batch,
      })
    }
    world.clock.advance(MINUTE_MS)
  }
}

async function shop(world: TestApp, name = 'Shop') {
  const { body } = await world.call('POST', '/v1/domains', { body: { name } })
  const changes = async () => (await world.call('GET', '/v1/changes')).body.changes
  const post = async (fields: object = {}) =>
    (
      await world.call('POST', '/v1/changes', {
        body: { domainId: body.id, source: 'ci', ref: '1', title: 'Release 1', ...fields },
      })
    ).body
  return { ...body, changes, post } as {
    id: string
    token: string
    changes(): Promise<never[]>
    post(fields?: object): Promise<{ id: string }>
  }
}

test('a release that loses a key is marked as regressed early, and a harmless release as clean at the end', async () => {
  await using world = await testApp()
  const { token, changes, post } = await shop(world)
  await trade(world, token, 30)
  await post({ windowMinutes: 30 })
  await trade(world, token, 15, {}, { transaction_id: '' })
  await world.run('flush', 'evaluate changes')
  expect(await changes()).toMatchObject([
    {
      status: 'regressed',
      findings: {
        items: [
          {
            kind: 'key_lost',
            harmful: true,
            vendor: 'GA4',
            event: 'purchase',
            key: 'transaction_id',
            before: 1,
            after: 0,
            effect: 1,
          },
        ],
      },
    },
  ])
  await trade(world, token, 15, {}, { transaction_id: '' })
  await world.run('evaluate changes')
  expect(await changes()).toMatchObject([
    { status: 'regressed', findings: { comparedEvents: { before: 360, after: 360 } } },
  ])
  await post({ ref: '2', windowMinutes: 20 })
  await trade(world, token, 20, {}, { transaction_id: '' })
  await world.run('evaluate changes')
  expect(await changes()).toMatchObject([{ status: 'clean', findings: { items: [] } }, { status: 'regressed' }])
})

test('many changes of one domain do not delay the analysis of another domain', async () => {
  await using world = await testApp()
  const [busy, fresh] = [await shop(world), await shop(world, 'Fresh')]
  await trade(world, busy.token, 10)
  for (let ref = 0; ref < 25; ref++) await busy.post({ ref: `${ref}`, windowMinutes: 20 })
  await trade(world, fresh.token, 10)
  await fresh.post({ windowMinutes: 20 })
  await trade(world, fresh.token, 10, {}, { transaction_id: '' })
  await world.run('flush', 'evaluate changes')
  const { changes } = (await world.call('GET', `/v1/changes?domainId=${fresh.id}`)).body
  expect(changes).toMatchObject([{ status: 'regressed' }])
})

test('the verdict is inconclusive when there are too few events', async () => {
  await using world = await testApp()
  const { token, changes, post } = await shop(world)
  await trade(world, token, 5)
  await post({ windowMinutes: 10 })
  await trade(world, token, 10)
  await world.run('evaluate changes')
  expect(await changes()).toMatchObject([{ status: 'clean', findings: { comparedEvents: { before: 60, after: 120 } } }])
  await post({ ref: '2', windowMinutes: 10 })
  await trade(world, token, 4)
  world.clock.advance(6 * MINUTE_MS)
  await world.run('evaluate changes')
  expect(await changes()).toMatchObject([
    { status: 'unclear', findings: { comparedEvents: { before: 120, after: 48 } } },
    {},
  ])
})

test('a new version is recorded as a change, unless it is the first known version', async () => {
  await using world = await testApp()
  const { token, changes } = await shop(world)
  await trade(world, token, 10)
  await world.run('flush', 'detect releases')
  expect(await changes()).toEqual([])
  const at = world.clock.now()
  await trade(world, token, 10, { version: 2 })
  await world.run('detect releases')
  await world.restart()
  await world.run('detect releases')
  expect(await changes()).toMatchObject([
    { source: 'version', ref: '2', title: 'Version 2', occurredAt: at, windowMinutes: 60, status: 'watching' },
  ])
})

test("a vendor's library at a new URL is recorded as a change", async () => {
  await using world = await testApp()
  const { token, changes } = await shop(world)
  const load = (url: string) => world.collect(token, { hits: [{ url, type: 'script', status: 200 }] })
  await load('https://www.googletagmanager.com/gtag/js?id=G-1ABC234DEF')
  world.clock.advance(MINUTE_MS)
  await world.run('flush', 'detect releases')
  await load('https://www.googletagmanager.com/gtag/js?id=G-1ABC234DEF&l=other')
  await load('https://tags.shop.example/gtag/js?id=G-1ABC234DEF')
  world.clock.advance(MINUTE_MS)
  await world.run('detect releases')
  expect(await changes()).toMatchObject([
    { source: 'library', ref: 'https://tags.shop.example/gtag/js', title: expect.stringContaining('is loaded from') },
  ])
})

test('changing a setting in Tagwarden is recorded once as a change', async () => {
  await using world = await testApp()
  const { id, changes } = await shop(world)
  const put = async (path: string, body: object) =>
    expect((await world.call('PUT', `/v1/domains/${id}/${path}`, { body })).status).toBe(200)
  for (let again = 0; again < 2; again++) {
    await put('hostnames/old.shop.example', { status: 'denied' })
    await put('page-view-sampling', { prodRate: 0.5 })
    await put('capture', { sampleRate: { prod: 0.1 } })
    await put('endpoint', { mode: 'custom', hostname: 'collect.shop.example' })
    world.clock.advance(1)
  }
  const titles = (await changes()).map(({ title }: { title: string }) => title).sort()
  expect(titles).toEqual([
    'Events are sent to https://collect.shop.example/api/v1/events',
    'Hostname old.shop.example is denied',
    'Page views are kept for 50 % of sessions (in development: 100 %)',
    'The browser script captures 10 % of sessions (in development: 100 %)',
  ])
})

test('a settings change that explains a drop appears in the issue, the series and the message', async () => {
  const sent: string[] = []
  const transport = {
    async send(outbound: { body?: string }) {
      sent.push(outbound.body ?? '')
      return { kind: 'status', status: 200, headers: {}, body: '' } as const
    },
  }
  await using world = await testApp({}, { transport: transport as never })
  const { id, token, changes } = await shop(world)
  const { body: alert } = await world.call('POST', '/v1/alerts', {
    body: {
      name: 'Purchases come',
      alertType: 'volume_threshold',
      domainId: id,
      volume: { op: 'lte', count: 5, event: 'purchase' },
      period: '5m',
      channels: [{ type: 'webhook', target: 'https://hooks.example.com/a' }],
    },
  })
  const page = { page: { url: 'https://old.shop.example/' } }
  await trade(world, token, 10, page)
  const put = await world.call('PUT', `/v1/domains/${id}/hostnames/old.shop.example`, { body: { status: 'denied' } })
  expect(put.status).toBe(200)
  await trade(world, token, 11, page)
  await world.at(world.clock.now())
  const [change] = (await changes()) as { id: string; title: string; occurredAt: number }[]
  expect(change?.title).toBe('Hostname old.shop.example is denied')
  const named = { id: change?.id, title: change?.title, occurredAt: change?.occurredAt }
  const { issues } = (await world.call('GET', `/v1/issues?alertId=${alert.id}`)).body
  expect(issues).toHaveLength(1)
  const evidence = await world.call('GET', `/v1/issues/${issues[0].id}/evidence`)
  expect(evidence.body.changes).toEqual([named])
  expect((await world.call('GET', '/v1/insights/causes')).body.causes).toMatchObject([
    { kind: 'release', title: change?.title, changeId: change?.id, issueIds: [issues[0].id] },
  ])
  const volume = await world.call('GET', `/v1/insights/volume?domainId=${id}&hours=2`)
  expect(volume.body.changes).toEqual([named])
  const [opened] = sent.map((body) => JSON.parse(body))
  expect([opened?.type, opened?.data.issue.changes]).toEqual(['issue.opened', [named]])
})

test('no verdict is lost when the process is killed, because due changes are evaluated after the restart', async () => {
  await using world = await testApp()
  const { token, changes, post } = await shop(world)
  await trade(world, token, 10)
  await post({ windowMinutes: 10 })
  await trade(world, token, 12)
  await world.crash()
  await world.run('evaluate changes')
  expect(await changes()).toMatchObject([
    { status: 'clean', findings: { comparedEvents: { before: 120, after: 120 } } },
  ])
})

test('a change in the past is evaluated in the next round', async () => {
  await using world = await testApp()
  const { token, changes, post } = await shop(world)
  await trade(world, token, 20)
  const at = world.clock.now()
  await trade(world, token, 20, {}, { transaction_id: '' })
  world.clock.advance(5 * 60 * MINUTE_MS)
  await world.run('flush')
  await post({ occurredAt: at, windowMinutes: 20 })
  await world.run('evaluate changes')
  expect(await changes()).toMatchObject([
    {
      status: 'regressed',
      findings: { items: [{ kind: 'key_lost', key: 'transaction_id' }], comparedEvents: { before: 240, after: 240 } },
    },
  ])
})

test('release detection runs no query without new events', async () => {
  await using world = await testApp()
  const { token } = await shop(world)
  await trade(world, token, 1)
  await world.run('flush', 'detect releases')
  const { db } = world.app
  const scannedTo = () => (db.prepare('SELECT scannedTo FROM releaseScan').get() as { scannedTo: number }).scannedTo
  const end = scannedTo() + MINUTE_MS
  const query = () => Promise.reject(new Error('unexpected query'))
  await detectReleases({ db, warehouse: { query, hasEvents: () => false }, watermark: () => end })
  expect(scannedTo()).toBe(end)
})
