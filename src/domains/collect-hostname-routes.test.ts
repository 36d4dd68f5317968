import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { hostsToCheck, noteHostCheck } from './collect-hostname-store.ts'
import { domainRoutes } from './routes.ts'
import { createDomain } from './store.ts'

function setUp({ isEndpointLocked = false, name = 'Shop', monitoredUrls = [] as string[] } = {}) {
  const [db, clock] = [memoryDb(), testClock()]
  const people = cast(db, clock)
  const routes = domainRoutes({
    db,
    clock,
    collectUrl: 'https://collect.example',
    publicUrl: 'https://tags.example:8443',
    isEndpointLocked,
    openIssues: () => ({}),
    lastOrders: () => ({}),
    isHostAllowed: (host) => host === 'tags.intra.internal',
    changed() {},
  })
  const id = createDomain(db, clock, people.orgId, { name, monitoredUrls })
  const call = client({ db, clock }, ...routes)
  const as = people.ada.key
  const set = (body: unknown) => call('PUT', `/v1/domains/${id}/endpoint`, { as, body })
  const domain = async () => (await call('GET', `/v1/domains/${id}`, { as })).body
  return { db, clock, id, set, domain }
}

describe('the endpoint of a domain', () => {
  test('switches between modes and preserves the custom hostname', async () => {
    const { set, domain } = setUp()
    const custom = {
      mode: 'custom',
      collectEndpoint: 'https://c.shop.example/api/v1/events',
      cdnHost: 'c.shop.example',
    }
    expect((await set({ mode: 'custom', hostname: 'C.Shop.example' })).body).toEqual(custom)
    expect(await domain()).toMatchObject({
      routing: custom,
      collect: { hostname: 'c.shop.example', status: 'pending' },
    })
    expect((await set({ mode: 'legacy' })).body).toEqual({
      mode: 'legacy',
      collectEndpoint: 'https://tags.example:8443/api/v1/events',
      cdnHost: 'tags.example:8443',
    })
    expect((await set({ mode: 'default' })).body).toEqual({
      mode: 'default',
      collectEndpoint: 'https://collect.example/api/v1/events',
      cdnHost: 'collect.example',
    })
    expect((await set({ mode: 'custom' })).body).toEqual(custom)
  })

  test.each([
    [{ monitoredUrls: ['https://www.shop.example/start'] }, 'collect.shop.example'],
    [{ monitoredUrls: ['https://shop.example'] }, 'collect.shop.example'],
    [{ name: 'www.shop.example' }, 'collect.shop.example'],
    [{ name: 'Shop' }, null],
    [{ monitoredUrls: ['http://127.0.0.1:8080/'] }, null],
    [{ monitoredUrls: ['http://localhost/'] }, null],
  ])('with the settings %j and no hostname is %p', async (settings, hostname) => {
    const { set } = setUp(settings)
    const { status, body } = await set({ mode: 'custom' })
    if (hostname === null) expect([status, body.error]).toEqual([400, expect.stringMatching(/^hostname: /)])
    else expect([status, body.cdnHost]).toEqual([200, hostname])
  })

  test.each([
    [{ mode: 'other' }, 400, /^mode: /],
    [{}, 400, /^mode: /],
    [{ mode: 'custom', hostname: 'https://shop.example' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'shop.example/path' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: '10.0.0.1' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: '[::1]' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'localhost' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'foo.localhost' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'a.b.LOCALHOST.' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'metadata.google.internal' }, 400, /^hostname: .*TAGWARDEN_OUTBOUND_ALLOW/],
    [{ mode: 'custom', hostname: 'tags.corp.internal' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'printer.local' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'shop.test' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'shop.invalid' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'shop.onion' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'shop.alt' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'box.home.arpa' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: '1.0.0.127.in-addr.arpa' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: '0x7f.1' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'a..example' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: '-a.example' }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: `${'a'.repeat(64)}.example` }, 400, /^hostname: /],
    [{ mode: 'custom', hostname: 'a;b.example' }, 400, /^hostname: /],
    [{ mode: 'default', hostname: 'c.shop.example' }, 400, /^hostname: /],
  ])('rejects %j', async (body, status, message) => {
    const { set } = setUp()
    const answer = await set(body)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)])
  })

  test.each([
    'tags.corp.example',
    'tags.corp.lan',
    'localhost.shop.example',
    'internal.shop.example',
    'xn--bcher-kva.example',
    'tags.intra.internal',
  ])('may be %s, a name on the operator’s own network', async (hostname) => {
    const { set } = setUp()
    expect((await set({ mode: 'custom', hostname })).body.cdnHost).toBe(hostname)
  })

  test.each(['http://shop.localhost/', 'http://shop.internal'])('is not derived from the URL %s', async (url) => {
    const { set } = setUp({ monitoredUrls: [url] })
    const { status, body } = await set({ mode: 'custom' })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^hostname: /)])
  })

  test("can't be changed when it is locked", async () => {
    const { set, domain } = setUp({ isEndpointLocked: true })
    expect((await set({ mode: 'legacy' })).status).toBe(403)
    expect((await domain()).routing.mode).toBe('default')
  })
})

test('a new hostname is pending until it is checked', async () => {
  const { db, clock, set, domain } = setUp()
  await set({ mode: 'custom', hostname: 'a.shop.example' })
  const [host] = hostsToCheck(db, clock.now(), 10)
  if (!host) throw new Error('a new hostname must be checked')
  noteHostCheck(db, host, 'active', clock.now())
  expect((await domain()).collect).toEqual({ hostname: 'a.shop.example', status: 'active' })
  expect(hostsToCheck(db, clock.now(), 10)).toEqual([])
  await set({ mode: 'legacy' })
  expect((await domain()).collect.status).toBe('active')
  await set({ mode: 'custom', hostname: 'b.shop.example' })
  noteHostCheck(db, host, 'active', clock.now())
  expect((await domain()).collect).toEqual({ hostname: 'b.shop.example', status: 'pending' })
})
