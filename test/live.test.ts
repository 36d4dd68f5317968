import { expect, test } from 'bun:test'
import { type TestApp, testApp } from './app.ts'

async function setUp(t: TestApp) {
  const as = t.owner.apiKey
  const { body: domain } = await t.call('POST', '/v1/domains', { as, body: { name: 'Shop' } })
  const live = async (query = '') => (await t.call('GET', `/v1/domains/${domain.id}/live${query}`, { as })).body
  const send = (event: string, host = 'shop.example') =>
    t.collect(domain.token, { page: { url: `https://${host}/` }, events: [{ vendor: 'Shop', event }] })
  return { as, domain, live, send }
}

const names = (view: { events: { event: { event: string } }[] }) => view.events.map(({ event }) => event.event)

test('what was acknowledged is in the live view at once, in order, and goes on from where one was', async () => {
  await using t = await testApp()
  const { live, send } = await setUp(t)
  expect(names(await live())).toEqual([])
  for (const event of ['first', 'second']) expect((await send(event)).status).toBe(202)
  const seen = await live()
  expect(names(seen)).toEqual(['first', 'second'])
  await send('third')
  expect(names(await live(`?since=${seen.latestSeq}`))).toEqual(['third'])
})

test('events of a hostname that is denied are dropped from the next batch on, and in the ledger', async () => {
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

test('a vendor of one’s own is named by its pattern, from the next batch on', async () => {
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
