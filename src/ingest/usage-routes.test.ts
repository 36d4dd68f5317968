import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { type UsageRouteDeps, usageRoutes } from './usage-routes.ts'

function setUp() {
  const [db, clock] = [memoryDb(), testClock()]
  const people = cast(db, clock)
  const disk = new Map<string, Awaited<ReturnType<UsageRouteDeps['storageOf']>>>()
  const storageOf = async (orgId: string) =>
    disk.get(orgId) ?? { diskBytes: 0, clickhouseBytes: null, oldestEventAt: null }
  const waiting: ReturnType<UsageRouteDeps['waitingDeletions']> = []
  const maskTextOf = () => (text: string) => text.replaceAll('jane@a.example', '***')
  const call = client(
    { db, clock },
    ...usageRoutes({ db, clock, storageOf, waitingDeletions: () => waiting, maskTextOf }),
  )
  const use = (domainId: string, hour: Instant, events: number, orgId = people.orgId) =>
    db.prepare('INSERT INTO usage VALUES (?, ?, ?, ?)').run(domainId, orgId, hour, events)
  const refuse = (domainId: string, reason: string, lastSeenAt: Instant, orgId = people.orgId) =>
    db
      .prepare('INSERT INTO rejection VALUES (?, ?, ?, 3, ?, ?, ?)')
      .run(domainId, orgId, reason, 'sample', lastSeenAt - 1000, lastSeenAt)
  return { db, clock, people, call, use, refuse, disk, waiting }
}

describe('the permissions of the routes', () => {
  const statusOf: Record<Caller, number> = {
    nobody: 401,
    stranger: 401,
    revoked: 401,
    expired: 401,
    viewer: 200,
    readOnly: 200,
    member: 200,
    admin: 200,
    owner: 200,
    otherOrg: 200,
  }
  const { people, call } = setUp()
  for (const path of ['/v1/usage', '/v1/events/rejected']) {
    test.each([...CALLERS])(`${path} for %s`, async (caller) => {
      const { status } = await call('GET', path, { as: credentialsOf(people)[caller] })
      expect(status).toBe(statusOf[caller])
    })
  }
})

describe('the usage of an organization', () => {
  test('has one row per day and domain, regardless of the number of hours', async () => {
    const { clock, people, call, use } = setUp()
    const today = Math.floor(clock.now() / DAY_MS) * DAY_MS
    use('dom_a', today, 1)
    use('dom_a', today + HOUR_MS, 2)
    use('dom_a', today + 23 * HOUR_MS, 4)
    use('dom_b', today + 5 * HOUR_MS, 8)
    use('dom_a', today - HOUR_MS, 16)
    use('dom_x', today, 1000, people.mallory.orgId)
    const { body } = await call('GET', '/v1/usage', { as: people.alice.key })
    expect(body).toEqual({
      days: [
        { day: '2026-01-04', domainId: 'dom_a', events: 16 },
        { day: '2026-01-05', domainId: 'dom_a', events: 7 },
        { day: '2026-01-05', domainId: 'dom_b', events: 8 },
      ],
      totalEvents: 31,
      diskBytes: 0,
      clickhouseBytes: null,
      oldestEventAt: null,
      waitingDeletions: [],
    })
  })

  test('covers the requested number of days including today, by default 30', async () => {
    const { clock, people, call, use } = setUp()
    const today = Math.floor(clock.now() / DAY_MS) * DAY_MS
    for (let day = 0; day < 420; day++) use('dom_a', today - day * DAY_MS, 1)
    for (const [query, days] of [
      ['', 30],
      ['?days=1', 1],
      ['?days=2', 2],
      ['?days=400', 400],
    ] as const) {
      const { body } = await call('GET', `/v1/usage${query}`, { as: people.alice.key })
      expect([body.days.length, body.totalEvents]).toEqual([days, days])
    }
    for (const days of ['0', '401', '1.5', 'x', '']) {
      const { status, body } = await call('GET', `/v1/usage?days=${days}`, { as: people.alice.key })
      expect(status).toBe(400)
      expect(body.error).toStartWith('query.days: ')
    }
  })

  test("includes only the organization's own disk usage", async () => {
    const { people, call, disk } = setUp()
    disk.set(people.orgId, { diskBytes: 110, clickhouseBytes: null, oldestEventAt: 4000 })
    disk.set(people.mallory.orgId, { diskBytes: 1100, clickhouseBytes: 1000, oldestEventAt: 3000 })
    expect((await call('GET', '/v1/usage', { as: people.alice.key })).body).toMatchObject(disk.get(people.orgId) ?? {})
    const { body } = await call('GET', '/v1/usage', { as: people.mallory.key })
    expect(body).toMatchObject({ diskBytes: 1100, clickhouseBytes: 1000, oldestEventAt: 3000 })
  })
})

describe('shorter limits that wait', () => {
  const WAITING = {
    name: 'retentionDays',
    inForce: 90,
    requested: 30,
    appliesAt: DAY_MS,
    before: 0,
    events: 7,
    bytes: 700,
  } as const

  test('are shown to owners of a server with one organization', async () => {
    const { db, people, call, waiting } = setUp()
    waiting.push(WAITING)
    const seen = async (as: string) => (await call('GET', '/v1/usage', { as })).body.waitingDeletions
    // The numbers include the events of other organizations.
    expect(await seen(people.alice.key)).toEqual([])
    db.prepare('DELETE FROM org WHERE id = ?').run(people.mallory.orgId)
    expect(await seen(people.alice.key)).toEqual([WAITING])
    for (const { key } of [people.ada, people.bob, people.vera]) expect(await seen(key)).toEqual([])
  })
})

describe('the ingestion ledger', () => {
  test('is listed newest first, page by page, with each row once', async () => {
    const aRow = fc.tuple(
      fc.constantFrom('dom_a', 'dom_b'),
      fc.constantFrom('r1', "it's", 'é', 'hits: body: x'),
      fc.nat(3),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(aRow, { selector: ([domain, reason]) => domain + reason, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, limit) => {
          const { clock, people, call, refuse } = setUp()
          for (const [domain, reason, minutes] of rows) refuse(domain, reason, clock.now() + minutes)
          refuse('dom_x', 'theirs', clock.now(), people.mallory.orgId)
          const seen: { domainId: string; reason: string; lastSeenAt: number }[] = []
          let cursor: string | null = ''
          while (cursor !== null) {
            const query = `limit=${limit}${cursor && `&cursor=${cursor}`}`
            const { body } = await call('GET', `/v1/events/rejected?${query}`, { as: people.alice.key })
            expect(body.rejections.length).toBeLessThanOrEqual(limit)
            seen.push(...body.rejections)
            cursor = body.nextCursor
          }
          const expected = rows.map(([domain, reason, minutes]) => `${3 - minutes} ${domain} ${reason}`).sort()
          const order = seen.map((row) => `${3 - (row.lastSeenAt - clock.now())} ${row.domainId} ${row.reason}`)
          expect(order).toEqual(expected)
        },
      ),
      { numRuns: 30 },
    )
  })

  test('can be filtered by domain, and rejects a cursor from another list', async () => {
    const { db, clock, people, call, refuse } = setUp()
    const shop = createDomain(db, clock, people.orgId, { name: 'Shop' })
    refuse('dom_a', 'r', clock.now())
    refuse(shop, 'r', clock.now())
    const { body } = await call('GET', `/v1/events/rejected?domainId=${shop}`, { as: people.alice.key })
    expect(body).toEqual({
      rejections: [
        {
          domainId: shop,
          reason: 'r',
          count: 3,
          sample: 'sample',
          firstSeenAt: clock.now() - 1000,
          lastSeenAt: clock.now(),
        },
      ],
      nextCursor: null,
    })
    const wrong = await call('GET', '/v1/events/rejected?cursor=W10', { as: people.alice.key })
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'cursor: is not valid for this list' }])
  })
})
