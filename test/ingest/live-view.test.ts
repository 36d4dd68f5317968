import { expect, test } from 'bun:test'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { type TestApp, testApp } from '../test-app.ts'

async function setUp(t: TestApp) {
  const as = t.owner.apiKey
  const { body: domain } = await t.call('POST', '/v1/domains', { as, body: { name: 'Shop' } })
  const live = async (query = '') => (await t.call('GET', `/v1/domains/${domain.id}/live${query}`, { as })).body
  const send = (event: string, host = 'shop.example') =>
    t.collect(domain.token, { page: { url: `https://${host}/` }, events: [{ vendor: 'Shop', event }] })
  return { as, domain, live, send }
}

const names = (view: { events: { event: { event: string } }[] }) => view.events.map(({ event }) => event.event)

test('acknowledged events appear in the live view immediately and in order, and can be read from a given cursor', async () => {
  await using t = await testApp()
  const { live, send } = await setUp(t)
  expect(names(await live())).toEqual([])
  for (const event of ['first', 'second']) expect((await send(event)).status).toBe(202)
  const seen = await live()
  expect(names(seen)).toEqual(['first', 'second'])
  for (const event of ['third', 'fourth', 'fifth']) await send(event)
  const cut = await live(`?since=${seen.latestSeq}&limit=2`)
  expect(names(cut)).toEqual(['third', 'fourth'])
  const rest = await live(`?since=${cut.latestSeq}&limit=2`)
  expect(names(rest)).toEqual(['fifth'])
  expect(await live(`?since=${rest.latestSeq}`)).toMatchObject({ events: [], latestSeq: rest.latestSeq })
})

test('events of a denied hostname are dropped from the next batch on, and counted as rejected', async () => {
  await using t = await testApp()
  const { as, domain, live, send } = await setUp(t)
  await live()
  await send('before', 'copy.example')
  const path = `/v1/domains/${domain.id}/hostnames/copy.example`
  expect((await t.call('PUT', path, { as, body: { status: 'denied' } })).status).toBe(200)
  expect((await send('after', 'copy.example')).body).toMatchObject({ accepted: 0, rejected: 1 })
  await send('elsewhere')
  expect(names(await live())).toEqual(['before', 'elsewhere'])
  t.clock.advance(5000)
  await t.run('flush')
  const { body } = await t.call('GET', '/v1/events/rejected', { as })
  expect(body.rejections).toMatchObject([{ domainId: domain.id, reason: 'events: hostname denied', count: 1 }])
})

test('a viewer sees no personal data in the live view', async () => {
  await using t = await testApp()
  const { domain, live } = await setUp(t)
  const viewer = createUser(t.app.db, t.clock, { email: 'viewer@example.com' })
  addMember(t.app.db, t.clock, { orgId: t.owner.orgId, userId: viewer.id, role: 'viewer' })
  const as = createKey(t.app.db, t.clock, {
    userId: viewer.id,
    orgId: t.owner.orgId,
    name: 'Live',
    expiresInDays: null,
  }).secret
  await t.call('PATCH', '/v1/org', { as: t.owner.apiKey, body: { phoneRegions: ['DE'] } })
  await live()
  await t.collect(domain.token, {
    events: [{ vendor: 'Shop', event: 'e', params: { to: 'ann@example.com', tel: '030 / 901820 12' } }],
  })
  const paramsOf = (view: { events: { event: { params: object } }[] }) => view.events.map(({ event }) => event.params)
  expect(paramsOf(await live())).toEqual([{ to: 'ann@example.com', tel: '030 / 901820 12' }])
  const { body } = await t.call('GET', `/v1/domains/${domain.id}/live`, { as })
  expect(JSON.stringify(paramsOf(body))).not.toMatch(/ann@|901820/)
})

test('a custom vendor is recognised by its pattern from the next batch on', async () => {
  await using t = await testApp()
  const { as, domain, live } = await setUp(t)
  await live()
  const hit = () => t.collect(domain.token, { hits: [{ url: 'https://metrics.shop.example/c?v=1' }] })
  await hit()
  const vendors = [{ vendorName: 'Own metrics', urlPatternMatches: ['metrics.shop.example/c'] }]
  await t.call('PUT', `/v1/domains/${domain.id}`, { as, body: { name: 'Shop', vendors } })
  await hit()
  const view = await live()
  expect(view.events.map(({ event }: { event: { vendor: string } }) => event.vendor)).toEqual([
    'metrics.shop.example',
    'Own metrics',
  ])
})
