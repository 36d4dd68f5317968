import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { createAlert, setEnabled } from '../alerts/alert-store.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { createDomain } from '../domains/store.ts'
import { issueOfAlert, volumeAlert } from '../issues/issue.fixture.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { applyChanges } from '../issues/store.ts'
import { addMember, createUser } from '../org/store.ts'
import { searchRoutes } from './routes.ts'

function openFixture() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const call = client({ db, clock }, ...searchRoutes({ db, privacyOf: () => PLAIN_PRIVACY }))
  return {
    db,
    clock,
    people,
    call,
    async find(q: string, { as = people.alice.key, limit = 50 } = {}) {
      const { status, body } = await call('GET', `/v1/search?${new URLSearchParams({ q, limit: `${limit}` })}`, { as })
      expect([q, status]).toEqual([q, 200])
      return body.results as { kind: string; id: string; title: string; detail: string; path: string }[]
    },
    domain: (name: string, monitoredUrls: string[] = [], orgId = people.orgId) =>
      createDomain(db, clock, orgId, { name, monitoredUrls }),
    alert: (name: string, orgId = people.orgId) =>
      createAlert(db, clock, orgId, {
        name,
        alertType: 'volume_threshold',
        volume: { op: 'lte', count: 1 },
        period: '1h',
        channels: [{ type: 'email', target: 'ann@example.com' }],
      }).id,
    issue(id: string, title: string, values: Partial<IssueRecord> = {}) {
      const record = issueOfAlert({ ...volumeAlert, orgId: people.orgId }, { id, title, subject: id, ...values })
      applyChanges(db, [{ kind: 'open', issue: record }], () => {})
      const { notes, trackerKey } = record
      db.prepare('UPDATE issue SET notes = ?, trackerKey = ? WHERE id = ?').run(notes, trackerKey, id)
    },
    names(domainId: string, vendor: string, ...events: string[]) {
      db.prepare('INSERT OR IGNORE INTO domainVendor VALUES (?, ?, 1)').run(domainId, vendor)
      for (const event of events)
        db.prepare('INSERT INTO countedName VALUES (?, ?, ?, 1, 1)').run(domainId, vendor, event)
    },
    change(id: string, domainId: string, title: string, orgId = people.orgId) {
      db.prepare(
        `INSERT INTO change (id, orgId, domainId, source, ref, title, occurredAt, windowMinutes, endsAt, status, findings)
         VALUES (?, ?, ?, 'release', ?, ?, ?, 60, 0, 'clean', '{}')`,
      ).run(id, orgId, domainId, `ref-${id}`, title, clock.now())
    },
  }
}

test('search finds all kinds of objects by name, with their type and page', async () => {
  const world = openFixture()
  const { find, people } = world
  const shop = world.domain('Zebra shop', ['https://shop.example/'])
  const blog = world.domain('Blog')
  const alertId = world.alert('Zebra count')
  const off = world.alert('Zebra count 2')
  setEnabled(world.db, world.clock, { orgId: people.orgId, id: off }, false)
  world.issue('iss_zebra', 'Zebra fell', { domainId: shop })
  world.names(shop, 'Zebra ads', 'zebra_view')
  world.names(blog, 'Zebra ads', 'zebra_view', 'other')
  world.change('chg_1', shop, 'Zebra release')
  const { id: userId } = createUser(world.db, world.clock, { email: 'zebra@example.com', name: 'Zoe Zebra' })
  addMember(world.db, world.clock, { orgId: people.orgId, userId, role: 'member' })
  const found = await find('zebra')
  const on = { vendor: 'Zebra ads' }
  const page = (query: Record<string, string>) => `/explore/dictionary?${new URLSearchParams(query)}`
  const byTitle = new Map(found.map((one) => [`${one.kind} ${one.title}`, one]))
  expect([...byTitle.values()]).toHaveLength(found.length)
  for (const one of [
    { kind: 'alert', id: alertId, title: 'Zebra count', detail: 'Volume threshold', path: `/alerts/${alertId}` },
    {
      kind: 'alert',
      id: off,
      title: 'Zebra count 2',
      detail: 'Volume threshold, disabled',
      path: `/alerts/${off}`,
    },
    { kind: 'change', id: 'chg_1', title: 'Zebra release', detail: 'Zebra shop, 5 Jan 2026', path: '/changes/chg_1' },
    { kind: 'domain', id: shop, title: 'Zebra shop', detail: 'https://shop.example/', path: `/domains/${shop}` },
    {
      kind: 'vendor',
      id: 'Zebra ads',
      title: 'Zebra ads',
      detail: expect.stringMatching(/^on .* and 1 more$/),
      path: page(on),
    },
    {
      kind: 'event',
      id: 'Zebra ads other',
      title: 'other',
      detail: 'Zebra ads on Blog',
      path: page({ ...on, event: 'other' }),
    },
    {
      kind: 'event',
      id: 'Zebra ads zebra_view',
      title: 'zebra_view',
      detail: expect.stringMatching(/^Zebra ads on .* and 1 more$/),
      path: page({ ...on, event: 'zebra_view' }),
    },
    {
      kind: 'issue',
      id: 'iss_zebra',
      title: 'Zebra fell',
      detail: 'High, open, Zebra shop',
      path: '/issues/iss_zebra',
    },
    { kind: 'member', id: userId, title: 'Zoe Zebra', detail: 'zebra@example.com, member', path: '/settings/members' },
  ]) {
    expect(byTitle.get(`${one.kind} ${one.title}`)).toEqual(one)
    byTitle.delete(`${one.kind} ${one.title}`)
  }
  expect(byTitle.size).toBe(0)
})

test('results are ranked by match: whole name, prefix, word prefix, substring, related text', async () => {
  const { find, domain, alert } = openFixture()
  const names = ['Dispatch carts', 'cart', 'My cart', 'Cart of gold', 'Discarted']
  for (const name of names) domain(name)
  domain('Elsewhere', ['https://cart.example/'])
  alert('Cart')
  expect((await find('cart')).map(({ kind, title }) => `${kind} ${title}`)).toEqual([
    'alert Cart',
    'domain cart',
    'domain Cart of gold',
    'domain Dispatch carts',
    'domain My cart',
    'domain Discarted',
    'domain Elsewhere',
  ])
  expect((await find('cart', { limit: 2 })).map(({ title }) => title)).toEqual(['Cart', 'cart'])
})

test('ids find their object, notes and ticket keys find their issue, and open issues are listed first', async () => {
  const { find, issue, domain } = openFixture()
  const shop = domain('Shop')
  issue('iss_old', 'Views fell', { status: 'resolved', severity: 'critical', domainId: shop })
  issue('iss_low', 'Views fell', { severity: 'low' })
  issue('iss_grave', 'Views fell', { severity: 'critical', notes: 'ask Ann', trackerKey: 'OPS-12' })
  expect((await find('views fell')).map(({ id }) => id)).toEqual(['iss_grave', 'iss_low', 'iss_old'])
  expect((await find('FELL views')).map(({ id }) => id)).toHaveLength(3)
  for (const q of ['iss_grave', 'ops-12', 'ask ann', 'views ann']) {
    expect([q, (await find(q)).map(({ id }) => id)]).toEqual([q, ['iss_grave']])
  }
  expect((await find(shop)).map(({ title }) => title)).toEqual(['Shop'])
})

test('only admins can search for and see e-mail addresses', async () => {
  const { find, people } = openFixture()
  expect(await find('bob@example')).toMatchObject([{ kind: 'member', title: 'Bob', detail: 'bob@example.com, member' }])
  expect(await find('bob@example', { as: people.bob.key })).toEqual([])
  expect(await find('bob', { as: people.vera.key })).toMatchObject([{ kind: 'member', title: 'Bob', detail: 'member' }])
})

test('names with personal data are not shown', async () => {
  const { find, domain, names, change } = openFixture()
  const shop = domain('Shop')
  names(shop, 'ann@example.com', 'buy')
  names(shop, 'Ads', 'sent to ann@example.com')
  change('chg_1', shop, 'Deployed by ann@example.com')
  expect(JSON.stringify([await find('ann'), await find('buy'), await find('deployed')])).not.toContain('ann@')
})

test("no query finds another organization's data", async () => {
  const world = openFixture()
  const { people, find } = world
  const shop = world.domain('Secret shop')
  const alertId = world.alert('Secret rule')
  world.issue('iss_secret', 'Secret trouble', { domainId: shop, notes: 'secret' })
  world.names(shop, 'Secret vendor', 'secret_event')
  world.change('chg_secret', shop, 'Secret release')
  const as = people.mallory.key
  for (const q of ['secret', shop, alertId, 'iss_secret', 'chg_secret', 'alice', 'Bob', '%%', '__']) {
    expect([q, await find(q, { as })]).toEqual([q, []])
  }
  expect((await find('secret')).length).toBe(6)
})

test('special characters in a query are matched literally', async () => {
  const { find, domain } = openFixture()
  const seen = new Set<string>()
  const text = fc.string({
    minLength: 2,
    maxLength: 20,
    unit: fc.constantFrom('%', '_', '\\', "'", '"', 'a', 'b', ' ', '-'),
  })
  await fc.assert(
    fc.asyncProperty(text, async (q) => {
      const name = q.trim().replaceAll(/\s+/g, ' ')
      fc.pre(name !== '')
      if (!seen.has(name.toLowerCase())) domain(name)
      seen.add(name.toLowerCase())
      const titles = (await find(q)).filter(({ kind }) => kind === 'domain').map(({ title }) => title.toLowerCase())
      expect(titles[0]).toBe(name.toLowerCase())
      const words = name.toLowerCase().split(' ').slice(0, 6)
      expect(titles.filter((title) => !words.every((word) => title.includes(word)))).toEqual([])
    }),
  )
})

test.each([
  ['q=a', 'query.q: must have at least 2 characters'],
  [`q=${'a'.repeat(101)}`, 'query.q: must have at most 100 characters'],
  ['q=ab&limit=51', 'query.limit: must be at most 50'],
  ['', 'query.q: is missing'],
])('the query string "%s" is rejected', async (query, error) => {
  const { call, people } = openFixture()
  expect(await call('GET', `/v1/search?${query}`, { as: people.alice.key })).toMatchObject({
    status: 400,
    body: { error },
  })
})
