import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyJson, CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { domainDirectory } from './domain-directory.ts'
import { domainRoutes } from './routes.ts'
import { createDomain } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const directory = domainDirectory({ db, clock })
  const call = client(
    { db, clock },
    ...domainRoutes({
      db,
      clock,
      collectUrl: 'https://collect.example',
      publicUrl: 'https://tags.example',
      isEndpointLocked: false,
      openIssues: (_, ids) => Object.fromEntries(ids.map((id) => [id, 7])),
      lastOrders: (ids) => Object.fromEntries(ids.map((id) => [id, 8])),
      changed: directory.invalidate,
    }),
  )
  const create = (name: string, orgId = people.orgId) => createDomain(db, clock, orgId, { name })
  const use = (domainId: string, at: number, events: number) =>
    db
      .prepare('INSERT INTO usage (domainId, orgId, hour, events) VALUES (?, ?, ?, ?)')
      .run(domainId, people.orgId, at - (at % HOUR_MS), events)
  return { db, clock, cast: people, directory, call, create, use }
}

type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
const reading = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 404 }
const members = { viewer: 403, readOnly: 403, member: 200, admin: 200, owner: 200, otherOrg: 404 }
const admins = { ...members, member: 403 }

const ROUTES: [string, string, unknown, Expected][] = [
  ['GET', '/v1/domains', undefined, { ...reading, otherOrg: 200 }],
  ['POST', '/v1/domains', { name: 'New' }, { ...admins, admin: 201, owner: 201, otherOrg: 201 }],
  ['POST', '/v1/domains', {}, { ...admins, admin: 400, owner: 400, otherOrg: 400 }],
  ['GET', '/v1/domains/{id}', undefined, reading],
  ['PUT', '/v1/domains/{id}', { name: 'Changed' }, admins],
  ['DELETE', '/v1/domains/{id}', undefined, admins],
  ['POST', '/v1/domains/{id}/token', undefined, admins],
  ['PUT', '/v1/domains/{id}/name', { name: 'Renamed' }, admins],
  ['PUT', '/v1/domains/{id}/endpoint', { mode: 'legacy' }, admins],
  ['GET', '/v1/domains/{id}/hostnames', undefined, reading],
  ['PUT', '/v1/domains/{id}/hostnames/shop.example', { status: 'denied' }, members],
]

describe('domain permissions', () => {
  const cases = ROUTES.flatMap(([method, path, body, expected]) =>
    CALLERS.map((caller) => {
      const status = caller in expected ? expected[caller as keyof Expected] : 401
      return [method, path, caller, status, body] as const
    }),
  )
  test.each(cases)('%s %s as %s returns %i', async (method, path, caller, status, body) => {
    const { call, cast, create, db } = setUp()
    const id = create('Shop')
    const dump = () =>
      JSON.stringify([db.prepare('SELECT * FROM domain').all(), db.prepare('SELECT * FROM hostname').all()])
    const before = dump()
    const answer = await call(method, path.replace('{id}', id), { as: credentialsOf(cast)[caller], body })
    expect(answer.status).toBe(status)
    if (status >= 400) expect(dump()).toBe(before)
  })

  test('the domain list of an organization does not include domains of other organizations', async () => {
    const { call, cast, create } = setUp()
    create('Shop')
    const theirs = create('Shop', cast.mallory.orgId)
    const { body } = await call('GET', '/v1/domains', { as: cast.mallory.key })
    expect(body.domains.map(({ id }: { id: string }) => id)).toEqual([theirs])
  })

  test("a viewer can't see property tokens", async () => {
    const { call, cast, create } = setUp()
    const id = create('Shop')
    for (const [{ key }, token] of [
      [cast.vera, ''],
      [cast.bob, expect.stringMatching(/^pt_/)],
    ] as const) {
      expect((await call('GET', `/v1/domains/${id}`, { as: key })).body.token).toEqual(token)
      expect((await call('GET', '/v1/domains', { as: key })).body.domains[0].token).toEqual(token)
    }
  })
})

test.each(ROUTES.filter(([, path]) => path.includes('{id}')))(
  '%s %s of a nonexistent domain returns 404',
  async (method, path, body) => {
    const { call, cast } = setUp()
    const answer = await call(method, path.replace('{id}', 'dom_none'), { as: cast.alice.key, body })
    expect(answer).toMatchObject({ status: 404, body: { error: 'no such domain' } })
  },
)

describe('the settings of a domain', () => {
  const input = {
    name: 'Shop',
    system: 'tag_manager',
    monitoredUrls: ['https://shop.example/*'],
    vendors: [{ vendorName: 'ga4', urlPatternMatches: ['/collect'] }, { vendorName: 'own' }],
    allowManualMonitoring: true,
    screenshotBase64: 'iVBORw0KGgo=',
  }
  const fields = {
    token: expect.stringMatching(/^pt_/),
    vendorCount: 2,
    status: 'waiting',
    events24h: 0,
    pageViewSampling: { devRate: 1, prodRate: 1 },
  }

  test('are returned as they were set, and can be read and written back unchanged', async () => {
    const { call, cast, clock } = setUp()
    const made = await call('POST', '/v1/domains', { as: cast.ada.key, body: input })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      ...input,
      ...fields,
      id: expect.stringMatching(/^dom_/),
      orgId: cast.orgId,
      createdAt: clock.now(),
      projectId: null,
      collect: null,
      routing: {
        mode: 'default',
        collectEndpoint: 'https://collect.example/api/v1/events',
        cdnHost: 'collect.example',
      },
      legacyScript: false,
      lastEventAt: null,
      prodVersion: null,
    })
    const path = `/v1/domains/${made.body.id}`
    expect((await call('GET', path, { as: cast.ada.key })).body).toEqual(made.body)
    expect((await call('PUT', path, { as: cast.ada.key, body: input })).body).toEqual(made.body)
  })

  test('fall back to their defaults when a PUT omits them, and the rest of the domain stays unchanged', async () => {
    const { call, cast } = setUp()
    const { body: made } = await call('POST', '/v1/domains', { as: cast.ada.key, body: input })
    const changed = await call('PUT', `/v1/domains/${made.id}`, { as: cast.ada.key, body: { name: 'Blog' } })
    expect(changed.body).toEqual({
      ...made,
      name: 'Blog',
      system: 'global',
      monitoredUrls: [],
      vendors: [],
      vendorCount: 0,
      allowManualMonitoring: false,
      screenshotBase64: null,
    })
  })

  test('are omitted from the list, which has only the fields of a domain', async () => {
    const { call, cast } = setUp()
    const { body: made } = await call('POST', '/v1/domains', { as: cast.ada.key, body: input })
    const { vendors, allowManualMonitoring, screenshotBase64, pageViewSampling, ...domain } = made
    const { body } = await call('GET', '/v1/domains', { as: cast.ada.key })
    expect(body).toEqual({
      domains: [domain],
      nextCursor: null,
      openIssues: { [domain.id]: 7 },
      lastOrderAt: { [domain.id]: 8 },
    })
  })
})

describe('the name of a domain', () => {
  test('is unique in its organization, ignoring case', async () => {
    const { call, cast, create } = setUp()
    const [shop, blog] = [create('Shop'), create('Blog')]
    create('Elsewhere', cast.mallory.orgId)
    const as = cast.ada.key
    const statuses = [
      await call('POST', '/v1/domains', { as, body: { name: ' sHOP ' } }),
      await call('PUT', `/v1/domains/${blog}`, { as, body: { name: 'Shop' } }),
      await call('PUT', `/v1/domains/${blog}/name`, { as, body: { name: 'shop' } }),
      await call('PUT', `/v1/domains/${shop}/name`, { as, body: { name: 'SHOP' } }),
      await call('POST', '/v1/domains', { as, body: { name: 'Elsewhere' } }),
    ].map(({ status, body }) => [status, body.error])
    const taken = [409, 'name: another domain in this organization has this name']
    expect(statuses).toEqual([taken, taken, taken, [200, undefined], [201, undefined]])
    expect((await call('GET', `/v1/domains/${shop}`, { as })).body.name).toBe('SHOP')
  })

  test('is rejected when it is taken, and the other fields stay unchanged', async () => {
    const { call, cast, create } = setUp()
    create('Shop')
    const path = `/v1/domains/${create('Blog')}`
    const before = (await call('GET', path, { as: cast.ada.key })).body
    await call('PUT', path, { as: cast.ada.key, body: { name: 'Shop', system: 'server' } })
    expect((await call('GET', path, { as: cast.ada.key })).body).toEqual(before)
  })
})

test('a domain shows its last event and its events of the last 24 hours', async () => {
  const { call, cast, clock, create, db, use } = setUp()
  const shop = create('Shop')
  // Lists are sorted by creation time.
  clock.advance(HOUR_MS)
  const blog = create('Blog')
  use(shop, clock.now(), 5)
  use(shop, clock.now() - 23 * HOUR_MS, 7)
  use(shop, clock.now() - DAY_MS, 1000)
  use(blog, clock.now(), 11)
  db.prepare('UPDATE domain SET lastEventAt = ?, prodVersion = 12 WHERE id = ?').run(clock.now(), shop)
  const path = `/v1/domains/${shop}`
  const seen = { events24h: 12, status: 'active', lastEventAt: clock.now(), prodVersion: 12 }
  expect((await call('GET', path, { as: cast.vera.key })).body).toMatchObject(seen)
  expect((await call('GET', '/v1/domains', { as: cast.vera.key })).body.domains).toMatchObject([
    { id: shop, ...seen },
    { id: blog, events24h: 11, status: 'waiting' },
  ])
  clock.advance(DAY_MS)
  expect((await call('GET', path, { as: cast.vera.key })).body).toMatchObject({ events24h: 0, status: 'silent' })
})

test('the collector accepts a rotated token immediately, and the previous token for a day', async () => {
  const { call, cast, clock, directory, create } = setUp()
  const path = `/v1/domains/${create('Shop')}`
  const as = cast.ada.key
  const old = (await call('GET', path, { as })).body.token
  expect(directory.byToken(old)).not.toBeNull()
  const { body } = await call('POST', `${path}/token`, { as })
  expect(body).toEqual({ token: expect.stringMatching(/^pt_/), previousTokenUntil: clock.now() + DAY_MS })
  expect(body.token).not.toBe(old)
  expect((await call('GET', path, { as })).body.token).toBe(body.token)
  expect([old, body.token].map((token) => directory.byToken(token) !== null)).toEqual([true, true])
  clock.advance(DAY_MS)
  expect([old, body.token].map((token) => directory.byToken(token) !== null)).toEqual([false, true])
})

test('the collector applies changed vendors immediately', async () => {
  const { call, cast, directory } = setUp()
  const as = cast.ada.key
  const { body } = await call('POST', '/v1/domains', { as, body: { name: 'Shop' } })
  expect(directory.byToken(body.token)?.vendors).toEqual([])
  const vendors = [{ vendorName: 'own', urlPatternMatches: ['/pixel'] }]
  await call('PUT', `/v1/domains/${body.id}`, { as, body: { name: 'Shop', vendors } })
  expect(directory.byToken(body.token)?.vendors).toEqual(vendors)
})

test('the collector immediately accepts a created domain and rejects a deleted one', async () => {
  const { call, cast, db, directory, use } = setUp()
  expect(directory.byToken('pt_none')).toBeNull()
  const { body } = await call('POST', '/v1/domains', { as: cast.ada.key, body: { name: 'Shop' } })
  expect(directory.byToken(body.token)?.id).toBe(body.id)
  use(body.id, DAY_MS, 1)
  db.prepare('INSERT INTO hostnameUsage VALUES (?, ?, 0, 1)').run(body.id, 'shop.example')
  db.prepare('INSERT INTO rejection VALUES (?, ?, ?, 1, ?, 0, 0)').run(body.id, cast.orgId, 'reason', 'sample')
  const path = `/v1/domains/${body.id}`
  await call('PUT', `${path}/hostnames/shop.example`, { as: cast.ada.key, body: { status: 'denied' } })
  expect((await call('DELETE', path, { as: cast.ada.key })).body).toEqual({ ok: true })
  expect((await call('GET', path, { as: cast.ada.key })).status).toBe(404)
  expect(directory.byToken(body.token)).toBeNull()
  expect(directory.isDenied(body.id, 'shop.example')).toBe(false)
  const left = ['domain', 'hostname', 'hostnameUsage', 'rejection', 'usage'].map((table) =>
    db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  )
  expect(left).toEqual([0, 0, 0, 0, 1])
})

describe('the hostnames of a domain', () => {
  test('are listed by name with their traffic, including manually added ones', async () => {
    const { call, cast, clock, create, db } = setUp()
    const id = create('Shop')
    const now = clock.now()
    const see = db.prepare('INSERT INTO hostname VALUES (?, ?, ?, ?, ?)')
    see.run(id, 'shop.example', 'unreviewed', now - DAY_MS, now)
    see.run(create('Blog'), 'blog.example', 'unreviewed', now, now)
    const use = db.prepare('INSERT INTO hostnameUsage VALUES (?, ?, ?, ?)')
    use.run(id, 'shop.example', now, 3)
    use.run(id, 'shop.example', now - HOUR_MS, 4)
    use.run(id, 'shop.example', now - DAY_MS, 100)
    use.run(id, 'other.example', now, 100)
    const path = `/v1/domains/${id}/hostnames`
    await call('PUT', `${path}/Evil.example.`, { as: cast.bob.key, body: { status: 'denied' } })
    expect((await call('GET', path, { as: cast.vera.key })).body).toEqual({
      hostnames: [
        { hostname: 'evil.example', status: 'denied', events24h: 0, firstSeenAt: null, lastSeenAt: null },
        { hostname: 'shop.example', status: 'unreviewed', events24h: 7, firstSeenAt: now - DAY_MS, lastSeenAt: now },
      ],
      nextCursor: null,
    })
  })

  test('have a status that can be changed and that the collector applies immediately', async () => {
    const { call, cast, create, directory } = setUp()
    const id = create('Shop')
    const judge = (name: string, status: string) =>
      call('PUT', `/v1/domains/${id}/hostnames/${encodeURIComponent(name)}`, { as: cast.bob.key, body: { status } })
    const isDenied = () => directory.isDenied(id, 'xn--mller-kva.example')
    expect(isDenied()).toBe(false)
    expect((await judge('müller.example', 'denied')).body).toEqual({ ok: true })
    expect(isDenied()).toBe(true)
    await judge('MÜLLER.example', 'approved')
    expect(isDenied()).toBe(false)
    await judge('xn--mller-kva.example', 'denied')
    expect(isDenied()).toBe(true)
    await judge('xn--mller-kva.example', 'unreviewed')
    expect(isDenied()).toBe(false)
    const { body } = await call('GET', `/v1/domains/${id}/hostnames`, { as: cast.bob.key })
    expect(body.hostnames).toHaveLength(1)
  })

  test.each(['a b', 'shop.example:80', 'a/b', 'a%b', '.'])("can't include %j, which returns 400", async (name) => {
    const { call, cast, create } = setUp()
    const path = `/v1/domains/${create('Shop')}/hostnames/${name === '.' ? '。' : encodeURIComponent(name)}`
    const answer = await call('PUT', path, { as: cast.bob.key, body: { status: 'denied' } })
    expect(answer).toMatchObject({ status: 400, body: { error: 'path.hostname: is not a hostname' } })
  })
})

test.each(['/v1/domains', '/v1/domains/{id}/hostnames'])('pages of %s list every item exactly once', async (route) => {
  const { call, cast, create, db } = setUp()
  const id = create('Shop 0')
  for (const n of [1, 2, 3, 4]) create(`Shop ${n}`)
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    db.prepare(`INSERT INTO hostname VALUES (?, ?, 'approved', 0, 0)`).run(id, name)
  }
  const path = route.replace('{id}', id)
  const noun = route.endsWith('hostnames') ? 'hostnames' : 'domains'
  const whole = (await call('GET', path, { as: cast.vera.key })).body
  expect(whole[noun]).toHaveLength(5)
  expect(whole.nextCursor).toBeNull()
  for (const limit of [1, 2, 4, 5]) {
    const walked: unknown[] = []
    for (let query = `limit=${limit}`; ; ) {
      const { body } = await call('GET', `${path}?${query}`, { as: cast.vera.key })
      walked.push(...body[noun])
      if (body.nextCursor === null) break
      expect(body[noun]).toHaveLength(limit)
      query = `limit=${limit}&cursor=${body.nextCursor}`
    }
    expect(walked).toEqual(whole[noun])
  }
})

describe('input validation', () => {
  const bodies: [unknown, string][] = [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: ' \t' }, 'name'],
    [{ name: 'n'.repeat(256) }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'Shop', system: 'mainframe' }, 'system'],
    [{ name: 'Shop', monitoredUrls: 'https://shop.example' }, 'monitoredUrls'],
    [{ name: 'Shop', monitoredUrls: Array(51).fill('x') }, 'monitoredUrls'],
    [{ name: 'Shop', monitoredUrls: ['x', 'x'.repeat(256)] }, 'monitoredUrls[1]'],
    [{ name: 'Shop', vendors: Array(201).fill({ vendorName: 'x' }) }, 'vendors'],
    [{ name: 'Shop', vendors: [{}] }, 'vendors[0].vendorName'],
    [{ name: 'Shop', vendors: [{ vendorName: '' }] }, 'vendors[0].vendorName'],
    [{ name: 'Shop', vendors: [{ vendorName: 'x'.repeat(201) }] }, 'vendors[0].vendorName'],
    [{ name: 'Shop', vendors: [{ vendorName: 'x', urlPatternMatches: [1] }] }, 'vendors[0].urlPatternMatches[0]'],
    [{ name: 'Shop', vendors: [{ vendorName: 'x', color: 'red' }] }, 'vendors[0].color'],
    [{ name: 'Shop', allowManualMonitoring: 1 }, 'allowManualMonitoring'],
    [{ name: 'Shop', screenshotBase64: null }, 'screenshotBase64'],
    [{ name: 'Shop', token: 'pt_mine' }, 'token'],
    [{ name: 'Shop', orgId: 'org_x' }, 'orgId'],
    ['{', 'body'],
    ['null', 'body'],
  ]
  const cases = bodies.flatMap(([body, field]) =>
    (['POST', 'PUT'] as const).map((method) => [method, JSON.stringify(body).slice(0, 80), field, body] as const),
  )
  test.each(cases)('%s %s returns 400 and names %s', async (method, _shown, field, body) => {
    const { call, cast, create } = setUp()
    const path = method === 'PUT' ? `/v1/domains/${create('Shop')}` : '/v1/domains'
    const answer = await call(method, path, { as: cast.ada.key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toStartWith(`${field}: `)
  })

  test.each([
    ['name', { name: '' }, 'name'],
    ['name', { name: 'x', id: 'y' }, 'id'],
    ['name', {}, 'name'],
    ['hostnames/a.example', { status: 'maybe' }, 'status'],
    ['hostnames/a.example', {}, 'status'],
    ['hostnames/a.example', { status: 'denied', hostname: 'b' }, 'hostname'],
  ])('PUT …/%s %j returns 400 and names %s', async (path, body, field) => {
    const { call, cast, create } = setUp()
    const answer = await call('PUT', `/v1/domains/${create('Shop')}/${path}`, { as: cast.ada.key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toStartWith(`${field}: `)
  })

  const queries = ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor=WzEsMl0', 'colour=red']
  test.each(queries)('a list request with %s returns 400', async (query) => {
    const { call, cast, create } = setUp()
    for (const path of ['/v1/domains', `/v1/domains/${create('Shop')}/hostnames`]) {
      expect((await call('GET', `${path}?${query}`, { as: cast.vera.key })).status).toBe(400)
    }
  })

  test('accepts values at their limits', async () => {
    const { call, cast } = setUp()
    const body = {
      name: 'n'.repeat(255),
      monitoredUrls: Array(50).fill('x'.repeat(255)),
      vendors: Array.from({ length: 200 }, (_, n) => ({ vendorName: `${n}`.padStart(200, 'x') })),
    }
    const made = await call('POST', '/v1/domains', { as: cast.ada.key, body })
    expect(made).toMatchObject({ status: 201, body: { ...body, vendorCount: 200 } })
  })

  test('never fails with a server error for any input', async () => {
    const { call, cast, create } = setUp()
    const id = create('Shop')
    const text = fc.string({ unit: 'binary' })
    const input = fc.record(
      {
        name: fc.oneof(text, anyJson),
        monitoredUrls: fc.oneof(fc.array(text), anyJson),
        vendors: fc.oneof(fc.array(fc.record({ vendorName: text })), anyJson),
        screenshotBase64: fc.oneof(text, anyJson),
      },
      { requiredKeys: [] },
    )
    const segment = fc.oneof(fc.string(), fc.constantFrom('%', '%E0%A4%A', '..', '%2F', '%00', '%FF'))
    await fc.assert(
      fc.asyncProperty(fc.oneof(input, anyJson), segment, async (body, part) => {
        const as = cast.ada.key
        const sent = { as, body: JSON.stringify(body) }
        const escaped = part.startsWith('%') ? part : encodeURIComponent(part)
        expect([201, 400, 409]).toContain((await call('POST', '/v1/domains', sent)).status)
        expect([200, 400, 409]).toContain((await call('PUT', `/v1/domains/${id}`, sent)).status)
        expect([200, 400, 404]).toContain((await call('GET', `/v1/domains/${escaped}`, { as })).status)
        const judged = await call('PUT', `/v1/domains/${id}/hostnames/${escaped}`, { as, body: { status: 'denied' } })
        expect([200, 400, 404]).toContain(judged.status)
      }),
      { numRuns: 200 },
    )
  })
})
