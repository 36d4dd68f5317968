import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TEST_START } from '../../test/fixtures.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { createKey } from '../org/api-key-store.ts'
import { addMember, createUser } from '../org/store.ts'
import type { History } from '../warehouse/warehouse.ts'
import { eventSearch } from './event-search.ts'
import { openHistory } from './history.fixture.ts'

interface Found {
  id: string
  seq: number
  receivedAt: number
  vendor: string
  event: string
  params: Record<string, string>
}

/** One event per line: its time in minutes after the start, and its content. */
const EVENTS = Array.from({ length: 60 }, (_, index) => ({
  minute: index * 3,
  id: `e${index}`,
  domain: index % 4 === 0 ? 1 : 0,
  vendor: ['Shop', 'Other', 'shop'][index % 3] ?? '',
  event: ['view', 'buy'][index % 2] ?? '',
  params: {
    colour: ['red', 'Red', 'blue', 'b%l_ue'][index % 4] ?? '',
    ...(index % 7 === 0 ? { Rare: 'needle', rare: 'hay' } : {}),
  } as Record<string, string>,
}))

const versionOf = ({ id }: { id: string }) => (id.endsWith('5') ? 2.5 : 1)
const envOf = ({ id }: { id: string }) => (id.endsWith('3') ? 'dev' : 'prod')

let world: TestApp
let domains: { id: string; token: string }[]

/**
 * Puts the first third of the events in a compacted file, the second in recently written files, and the last in the
 * spool.
 */
beforeAll(async () => {
  world = await testApp()
  domains = []
  for (const name of ['One', 'Two']) domains.push((await world.call('POST', '/v1/domains', { body: { name } })).body)
  for (const { minute, domain, ...event } of EVENTS) {
    world.clock.set(TEST_START + minute * MINUTE_MS)
    if (minute === 60) await world.run('flush')
    if (minute === 120) await world.run('flush', 'compact')
    const page = { url: `https://d${domain}.example/path/${event.id}`, title: `Title ${event.event}` }
    const release = { version: versionOf(event), env: envOf(event) }
    await world.collect(domains[domain]?.token ?? '', { page, ...release, events: [event] })
  }
  const { db } = world.app
  const levels = db.prepare('SELECT DISTINCT level FROM eventFile ORDER BY level').pluck().all()
  expect(levels).toEqual(['compacted', 'fresh'])
})

afterAll(() => world[Symbol.asyncDispose]())

const search = async (query: Record<string, string | number>, as?: string) => {
  const path = `/v1/events?${new URLSearchParams(query as Record<string, string>)}`
  const { status, body } = await world.call('GET', path, as === undefined ? {} : { as })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as { events: Found[]; nextCursor: string | null }
}

async function walk(query: Record<string, string | number>): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof search>> = await search({ ...query, ...(cursor === null ? {} : { cursor }) })
    ids.push(...page.events.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

test('for any query, the pages contain the same events as a plain loop, newest first', async () => {
  // Limited to the past, because `from` without `to` must not be in the future.
  const minute = fc.integer({ min: -5, max: 177 })
  const question = fc.record(
    {
      domain: fc.constantFrom(0, 1),
      vendor: fc.constantFrom('Shop', 'Other', 'shop', 'SHOP', "'"),
      event: fc.constantFrom('view', 'buy', 'View'),
      q: fc.constantFrom(
        'red',
        'e',
        'needle',
        'hay',
        '%',
        '_',
        'l_u',
        'd1.example',
        '/path/e1',
        'Title b',
        'colour',
        '\\',
      ),
      limit: fc.integer({ min: 1, max: 200 }),
      from: minute,
      length: fc.integer({ min: 1, max: 200 }),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(question, async ({ domain, from, length, ...filters }) => {
      const { vendor, event, q } = filters
      const start = from === undefined ? -1 : from
      const end = from === undefined || length === undefined ? 1e6 : from + length
      const expected = EVENTS.filter(
        (one) =>
          (domain === undefined || one.domain === domain) &&
          (vendor === undefined || one.vendor === vendor) &&
          (event === undefined || one.event === event) &&
          one.minute >= start &&
          one.minute < end &&
          (q === undefined ||
            [...Object.values(one.params), `d${one.domain}.example`, `/path/${one.id}`, `Title ${one.event}`].some(
              (text) => text.includes(q),
            )),
      )
      const at = (minutes: number) => TEST_START + minutes * MINUTE_MS
      const query = {
        ...filters,
        ...(domain === undefined ? {} : { domainId: domains[domain]?.id ?? '' }),
        ...(from === undefined ? {} : { from: at(from), ...(length === undefined ? {} : { to: at(end) }) }),
      }
      expect(await walk(query as Record<string, string | number>)).toEqual(expected.map(({ id }) => id).reverse())
    }),
    { numRuns: 60 },
  )
})

test.each<[Record<string, string>, (event: (typeof EVENTS)[number]) => boolean]>([
  [{ param: 'colour=red' }, ({ params }) => params.colour === 'red'],
  [{ param: 'Rare=needle' }, ({ params }) => params.Rare === 'needle'],
  [{ param: 'rare=needle' }, () => false],
  [{ param: 'rare=' }, ({ params }) => params.rare === undefined],
  [{ param: '*=needle' }, ({ params }) => params.Rare === 'needle'],
  [{ param: 'Rare' }, ({ params }) => params.Rare !== undefined],
  [{ param: '$path=/path/e7' }, ({ id }) => id === 'e7'],
  [
    { param: '$event=buy', vendor: 'Shop', q: 'red' },
    (one) => one.event === 'buy' && one.vendor === 'Shop' && Object.values(one.params).includes('red'),
  ],
  [{ param: '$$os=x' }, () => false],
  [{ param: 'absent' }, () => false],
  [{ version: '2.5' }, (one) => versionOf(one) === 2.5],
  [{ env: 'dev', version: '1' }, (one) => envOf(one) === 'dev' && versionOf(one) === 1],
  [{ violated: 'true' }, () => false],
  [{ violated: 'false', env: 'dev' }, (one) => envOf(one) === 'dev'],
  [{ sessionId: 'nobody' }, () => false],
])('the query %j finds the same events as a plain loop', async (query, test) => {
  const expected = EVENTS.filter(test).map(({ id }) => id)
  expect(await walk({ ...query, limit: 7 })).toEqual(expected.reverse())
})

test("a session's events are found by the session id", async () => {
  const events = [
    { vendor: 'Shop', event: 'in session' },
    { vendor: 'Shop', event: 'in session' },
  ]
  await world.collect(domains[0]?.token ?? '', { sessionId: 'session-7', events })
  await world.collect(domains[0]?.token ?? '', { sessionId: 'session-77', events })
  expect((await search({ sessionId: 'session-7' })).events.length).toBe(2)
})

test('for a page, the newest hours are read first, and older hours only until the page is full', async () => {
  await using fresh = await testApp()
  const { body: domain } = await fresh.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const hours = [0, 30, 31, 95, 96, 700]
  for (const hour of hours) {
    fresh.clock.set(TEST_START + hour * HOUR_MS)
    await fresh.collect(domain.token, { events: [{ id: `h${hour}`, vendor: 'Shop', params: { k: 'v' } }] })
    if (hour === 95) await fresh.run('flush', 'compact')
  }
  const ids: string[] = []
  let cursor = ''
  do {
    const path = `/v1/events?from=${TEST_START}&limit=2&q=v${cursor && `&cursor=${cursor}`}`
    const { body } = await fresh.call('GET', path)
    ids.push(...body.events.map(({ id }: Found) => id))
    cursor = body.nextCursor
  } while (cursor)
  expect(ids).toEqual(hours.map((hour) => `h${hour}`).reverse())
})

test('the pages of ten days end where they continue, and none searches the time of an earlier page', async () => {
  await using ten = await openHistory()
  const from = ten.now - 10 * DAY_MS
  const newestReads: number[] = []
  const recorder: History = {
    query(query) {
      newestReads.push(query.window.to)
      return ten.fixture.warehouse.query(query)
    },
  }
  const found: Found[] = []
  let cursor: string | null = null
  do {
    newestReads.length = 0
    const bound = found.at(-1)?.receivedAt ?? ten.now
    const input = { from, limit: 200, ...(cursor !== null && { cursor }) }
    const page = await eventSearch.answer(ten.sources(recorder), input, ten.caller)
    expect(Math.max(...newestReads)).toBeLessThanOrEqual(bound + 1)
    found.push(...page.events)
    cursor = page.nextCursor
  } while (cursor !== null)
  const expected = ten.events
    .filter(({ orgId, receivedAt }) => orgId === ten.orgId && receivedAt >= from)
    .toSorted((a, b) => b.receivedAt - a.receivedAt || b.seq - a.seq)
  expect(expected.length).toBeGreaterThan(5000)
  expect(found.map(({ seq }) => seq)).toEqual(expected.map(({ seq }) => seq))
})

describe('an event in the search results', () => {
  test('is shown with all its details', async () => {
    const { events } = await search({ q: '/path/e7' })
    expect(events).toMatchObject([
      {
        id: 'e7',
        domainId: domains[0]?.id,
        env: 'prod',
        vendor: 'Other',
        event: 'buy',
        kind: 'event',
        host: 'd0.example',
        path: '/path/e7',
        title: 'Title buy',
        ts: TEST_START + 21 * MINUTE_MS,
        receivedAt: TEST_START + 21 * MINUTE_MS,
        weight: 1,
        violations: null,
        account: null,
      },
    ])
    expect(events[0]?.params).toEqual({ colour: 'b%l_ue', Rare: 'needle', rare: 'hay' })
  })

  test('hides personal data from viewers only', async () => {
    const { db } = world.app
    const { id: userId } = createUser(db, world.clock, { email: 'vera@example.com' })
    addMember(db, world.clock, { orgId: world.owner.orgId, userId, role: 'viewer' })
    const viewer = createKey(db, world.clock, {
      userId,
      orgId: world.owner.orgId,
      name: 'key',
      expiresInDays: null,
    }).secret
    await world.call('PATCH', '/v1/org', { body: { phoneRegions: ['DE'] } })
    const params = { to: 'ann@example.com', tel: '+1 506 234 5678', note: 'call 030 / 901820 12' }
    await world.collect(domains[0]?.token ?? '', { events: [{ vendor: 'Shop', event: 'mail', params }] })
    const [shown] = (await search({ event: 'mail' })).events
    expect(shown?.params).toEqual(params)
    const [hidden] = (await search({ event: 'mail' }, viewer)).events
    expect(hidden?.params).toEqual({ to: 'a***@e***.com', tel: '***78', note: 'call ***12' })
  })
})

test('a search without a time range covers the last 24 hours up to and including the current millisecond', async () => {
  await using fresh = await testApp()
  const { body: domain } = await fresh.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  for (const [id, at] of [
    ['too old', 0],
    ['oldest', 1],
    ['now', DAY_MS],
  ] as const) {
    fresh.clock.set(TEST_START + at)
    await fresh.collect(domain.token, { events: [{ id, vendor: 'Shop' }] })
  }
  const { body } = await fresh.call('GET', '/v1/events')
  expect(body.events.map(({ id }: Found) => id)).toEqual(['now', 'oldest'])
})

test.each<[Record<string, string | number>, string]>([
  [{ from: TEST_START, to: TEST_START }, 'query.from: must be before `to`'],
  [{ from: TEST_START + HOUR_MS, to: TEST_START }, 'query.from: must be before `to`'],
  [{ param: '=red' }, 'query.param: must be key=value or a key'],
  [{ cursor: Buffer.from('["x",1]').toString('base64url') }, 'cursor: is not valid for this list'],
  [{ cursor: Buffer.from('[1,1.5]').toString('base64url') }, 'cursor: is not valid for this list'],
  [{ cursor: Buffer.from('[1,1e300]').toString('base64url') }, 'cursor: is not valid for this list'],
  [{ cursor: Buffer.from('[1]').toString('base64url') }, 'cursor: is not valid for this list'],
])('the query %j is rejected', async (query, error) => {
  const path = `/v1/events?${new URLSearchParams(query as Record<string, string>)}`
  expect(await world.call('GET', path)).toMatchObject({ status: 400, body: { error } })
})

test('a cursor leads to the same page while more events arrive', async () => {
  const { nextCursor } = await search({ limit: 5, domainId: domains[1]?.id ?? '' })
  const query = { limit: 5, domainId: domains[1]?.id ?? '', cursor: nextCursor ?? '' }
  const before = (await search(query)).events
  await world.collect(domains[1]?.token ?? '', { events: [{ vendor: 'Shop' }, { vendor: 'Shop' }] })
  world.clock.advance(5 * SECOND_MS)
  await world.run('flush')
  expect((await search(query)).events).toEqual(before)
})
