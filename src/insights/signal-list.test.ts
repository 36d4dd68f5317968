import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { createAutoAlert } from '../alerts/auto-alert.ts'
import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { applyFindings } from '../issues/store.ts'
import { CountsFixture, hours, MONDAY } from '../signals/series-monitor.fixture.ts'
import { saveSetting, settingsOf } from '../signals/signal-setting-store.ts'
import type { Sources } from './insight.ts'
import { insightDeps } from './insight-deps.fixture.ts'
import { insightRoutes } from './routes.ts'
import { type SignalRow, signalList } from './signal-list.ts'

/** A Thursday, 12:10, after ten weeks. */
const NOW = MONDAY + 70 * DAY_MS + 3 * DAY_MS + 12 * HOUR_MS + 10 * MINUTE_MS

const db = memoryDb()
const clock = testClock(NOW - 3)
const people = cast(db, clock)
const { orgId } = people
const [shop, blog, quiet] = ['Shop', 'Blog', 'Quiet'].map((name) => {
  clock.advance(1)
  return createDomain(db, clock, orgId, { name })
}) as [string, string, string]
const theirs = createDomain(db, clock, people.mallory.orgId, { name: 'Shop' })
const keys = credentialsOf(people)

const traffic = { orgId, domainId: shop, vendor: 'GA', from: MONDAY, to: NOW }
const setting = { domainId: shop, vendor: 'GA', event: 'muted', mode: 'muted', sensitivity: 7 } as const
let fixture: CountsFixture
/** Signals whose state was queried. */
const learned: { vendor: string; event: string }[] = []
let get: (
  path?: string,
  as?: string | null,
) => Promise<{ status: number; body: { signals: SignalRow[]; [name: string]: unknown } }>

beforeAll(async () => {
  fixture = await CountsFixture.with(
    { ...traffic, event: 'view', perHour: 200 },
    { ...traffic, event: 'buy', perHour: 100, faults: [{ from: NOW - hours(3), to: NOW, factor: 0 }] },
    { ...traffic, event: 'lead', perHour: 200, faults: [{ from: NOW - hours(3), to: NOW, factor: 0.3 }] },
    { ...traffic, event: 'rise', perHour: 50, faults: [{ from: NOW - hours(2), to: NOW, factor: 4 }] },
    { ...traffic, event: 'new', perHour: 60, from: NOW - 2 * DAY_MS },
    { ...traffic, event: 'rare', perHour: 0.2 },
    { ...traffic, event: 'muted', perHour: 60 },
    { ...traffic, event: 'off', perHour: 60 },
    { ...traffic, domainId: blog, vendor: 'Pixel', event: '', perHour: 60 },
    { ...traffic, domainId: blog, vendor: 'Ads', event: 'view', perHour: 60 },
    { ...traffic, orgId: people.mallory.orgId, domainId: theirs, event: 'theirs', perHour: 60 },
  )
  saveSetting(db, clock, orgId, setting)
  saveSetting(db, clock, orgId, { ...setting, event: 'off', mode: 'off', sensitivity: null })
  saveSetting(db, clock, orgId, { ...setting, event: 'named', mode: 'auto', sensitivity: 3 })
  const seriesMonitor = fixture.seriesMonitor({ settingsOf: (id) => settingsOf(db, id) })
  const watching: Sources['seriesMonitor'] = {
    chart: (...args) => seriesMonitor.chart(...args),
    async signals(...args) {
      const signals = await seriesMonitor.signals(...args)
      learned.push(...signals.flat().filter(({ mode }) => mode !== 'off'))
      return signals
    },
    verdicts: (...args) => seriesMonitor.verdicts(...args),
    charts: (...args) => seriesMonitor.charts(...args),
    forHistory: seriesMonitor.forHistory,
  }
  const deps = insightDeps({ db, clock, warehouse: fixture.fixture.warehouse, seriesMonitor: watching })
  const routes = insightRoutes(deps, [signalList])
  const call = client({ db, clock }, ...routes)
  get = (path = '', as = people.vera.key) => call('GET', `/v1/auto/signals${path}`, { as })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const nameOf = ({ domain, vendor, event }: SignalRow) => `${domain} ${vendor} ${event}`
const namesOf = async (path: string) => (await get(path)).body.signals.map(nameOf)

const SHOP = ['buy', 'lead', 'muted', 'named', 'new', 'off', 'rise', 'view'].map((event) => `Shop GA ${event}`)
const BLOG = ['Blog Ads view', 'Blog Pixel ']
const ALL = [...SHOP, ...BLOG]

test('every signal is listed with its state, sorted by domain, vendor and event', async () => {
  const { status, body } = await get()
  expect(status).toBe(200)
  expect(body.nextCursor).toBeNull()
  expect(body.signals.map((row) => `${nameOf(row)}: ${row.mode} ${row.sensitivity} ${row.state}`)).toEqual([
    'Shop GA buy: auto 5 silent',
    'Shop GA lead: auto 5 low',
    'Shop GA muted: muted 7 normal',
    'Shop GA named: auto 3 learning',
    'Shop GA new: auto 5 learning',
    'Shop GA off: off 5 off',
    'Shop GA rise: auto 5 high',
    'Shop GA view: auto 5 normal',
    'Blog Ads view: auto 5 normal',
    'Blog Pixel : auto 5 normal',
  ])
  const rows = Object.fromEntries(body.signals.map((row) => [row.event, row]))
  const { view, buy, lead, off, named, new: young } = rows as Record<string, SignalRow>
  if (!view || !buy || !lead || !off || !named || !young) throw new Error('a signal is missing')
  const { observed, expected, low, high } = view
  expect(low).toBeLessThanOrEqual(observed ?? -1)
  expect(high).toBeGreaterThanOrEqual(observed ?? Number.POSITIVE_INFINITY)
  expect(Math.abs((expected ?? 0) / (observed ?? 1) - 1)).toBeLessThan(0.4)
  expect(view).toMatchObject({ learningUntil: null, silentSince: null, explainedBy: null, issueId: null })
  expect(view.lastEventAt).toBeGreaterThan(NOW - 20 * MINUTE_MS)
  expect(view).not.toHaveProperty('series')
  expect(lead.observed).toBeLessThan(lead.low ?? 0)
  expect([buy.observed, buy.silentSince]).toEqual([0, buy.lastEventAt])
  expect(NOW - (buy.silentSince ?? 0)).toBeGreaterThanOrEqual(hours(3) - MINUTE_MS)
  expect(young.learningUntil).toBeGreaterThan(NOW)
  const nothing = { expected: null, low: null, high: null, silentSince: null, lastEventAt: null, learningUntil: null }
  expect(off).toMatchObject({ ...nothing, observed: null })
  expect(named).toMatchObject(nothing)
})

describe('filters of the signal list', () => {
  test.each<[string, string[]]>([
    [`?domainId=`, ALL],
    [`?domainId={blog}`, BLOG],
    [`?domainId={quiet}`, []],
    ['?vendor=GA', SHOP],
    ['?vendor=ga', []],
    ['?event=view', ['Shop GA view', 'Blog Ads view']],
    ['?event=', ['Blog Pixel ']],
    ['?vendor=Pixel&event=', ['Blog Pixel ']],
    ['?state=silent', ['Shop GA buy']],
    ['?state=off', ['Shop GA off']],
    ['?state=learning', ['Shop GA named', 'Shop GA new']],
    ['?state=high&domainId={blog}', []],
    ['?mode=muted', ['Shop GA muted']],
    ['?mode=off&state=off', ['Shop GA off']],
    ['?mode=off&state=low', []],
  ])('return the expected signals for %s', async (path, expected) => {
    if (path === '?domainId=') return expect(await namesOf('')).toEqual(expected)
    expect(await namesOf(path.replace('{blog}', blog).replace('{quiet}', quiet))).toEqual(expected)
  })

  test.each([1, 2, 3, 7, 10])('list each signal once in pages of %i', async (limit) => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await get(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      expect(body.signals.length).toBeLessThanOrEqual(limit)
      seen.push(...body.signals.map(nameOf))
      cursor = body.nextCursor as string | null
    }
    expect(seen).toEqual(ALL)
  })

  test('return full pages of matching signals', async () => {
    const first = await get('?event=view&limit=1')
    expect(first.body.signals.map(nameOf)).toEqual(['Shop GA view'])
    expect(await namesOf(`?event=view&limit=1&cursor=${first.body.nextCursor}`)).toEqual(['Blog Ads view'])
  })
})

describe('a sorted signal list', () => {
  const SEVERITY = ['silent', 'low', 'high', 'learning', 'normal', 'off']
  const lowest = (value: number | null) => value ?? Number.NEGATIVE_INFINITY
  const orders: Record<string, (row: SignalRow) => number | string> = {
    state: ({ state }) => -SEVERITY.indexOf(state),
    vendor: ({ vendor, event }) => `${vendor} ${event}`,
    observed: ({ observed }) => lowest(observed),
    expected: ({ expected }) => lowest(expected),
    sensitivity: ({ sensitivity }) => sensitivity,
    mode: ({ mode }) => ['auto', 'muted', 'off'].indexOf(mode),
  }
  const cases = Object.keys(orders).flatMap((field) => [field, `-${field}`].map((sort) => [sort, field] as const))

  test.each(cases)('by %s is in order and contains each signal once, in pages of 3', async (sort, field) => {
    const rows: SignalRow[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await get(`?sort=${sort}&limit=3${cursor && `&cursor=${cursor}`}`)
      expect([status, body.signals.length <= 3]).toEqual([200, true])
      rows.push(...body.signals)
      cursor = body.nextCursor as string | null
    }
    expect(rows.map(nameOf).toSorted()).toEqual(ALL.toSorted())
    const values = rows.map(orders[field] as (row: SignalRow) => number | string)
    const sign = sort.startsWith('-') ? -1 : 1
    expect(values).toEqual(values.toSorted((a, b) => sign * (a < b ? -1 : Number(a > b))))
  })

  test('begins with the most severe state for -state, and respects filters', async () => {
    const { body } = await get('?sort=-state&limit=4')
    expect(body.signals.map(({ state }) => state)).toEqual(['silent', 'low', 'high', 'learning'])
    expect(await namesOf('?sort=-observed&state=normal&vendor=GA')).toEqual(['Shop GA view', 'Shop GA muted'])
  })

  test.each(['?sort=nothing', '?sort=state&cursor={cursor}', '?cursor={cursor}'])('rejects %s', async (path) => {
    const { body } = await get('?sort=-state&limit=1')
    expect((await get(path.replace('{cursor}', String(body.nextCursor)))).status).toBe(400)
  })
})

describe('the signals evaluated for a page', () => {
  test.each<[string, string[]]>([
    // One more signal is evaluated to find out whether there is a next page.
    ['?limit=2', ['buy', 'lead', 'muted']],
    ['?limit=9', [...SHOP, ...BLOG].map((name) => name.split(' ')[2] ?? '').filter((event) => event !== 'off')],
    ['?vendor=Ads', ['view']],
    ['?mode=muted', ['muted']],
    ['?mode=off', []],
    ['?state=off', []],
    ['?state=low&limit=1&vendor=GA', ['buy', 'lead', 'muted', 'named', 'new', 'rise', 'view']],
    ['?state=learning&limit=1&domainId={shop}', ['buy', 'lead', 'muted', 'named', 'new']],
    ['?domainId={quiet}', []],
  ])('are those of the expected events for %s', async (path, events) => {
    learned.length = 0
    await get(path.replace('{shop}', shop).replace('{quiet}', quiet))
    expect(learned.map(({ event }) => event)).toEqual(events)
  })

  test('are only those on the page, regardless of where the page begins', async () => {
    const { body } = await get('?limit=4')
    learned.length = 0
    await get(`?limit=2&cursor=${body.nextCursor}`)
    expect(learned.map(({ event }) => event)).toEqual(['new', 'rise'])
  })
})

test('a series contains the hours of the last 7 days, each with its expected count', async () => {
  const { body } = await get(`?series=true&domainId=${shop}`)
  const byName = new Map(body.signals.map((row) => [row.event, row.series ?? []]))
  const points = byName.get('view') ?? []
  expect(points).toHaveLength(7 * 24)
  for (const [index, { start }] of points.entries()) {
    expect(start).toBe(Math.ceil(NOW / HOUR_MS) * HOUR_MS - (7 * 24 - index) * HOUR_MS)
  }
  expect(points.filter(({ partial }) => partial)).toEqual([points.at(-1)] as never)
  for (const { observed, expected, low, high, partial } of points) {
    expect([Number.isInteger(observed), partial || (low ?? 9e9) <= (expected ?? 0)]).toEqual([true, true])
    if (!partial) expect(high).toBeGreaterThanOrEqual(expected ?? 9e9)
  }
  const view = body.signals.find(({ event }) => event === 'view')
  for (const count of [...points, view].flatMap((row) => [row?.expected ?? 0, row?.low ?? 0, row?.high ?? 0])) {
    expect(count).toBe(Number(count.toFixed(2)))
  }
  expect(points.at(-2)).toMatchObject({ observed: view?.observed, low: view?.low, high: view?.high })
  const [{ total = 0 } = {}] = await fixture.fixture.query<{ total: number }>(
    `SELECT sum(weight) AS total FROM counts WHERE domainId = '${shop}' AND event = 'view'`,
    {},
    { over: 'counts', orgId, window: { from: points[0]?.start ?? 0, to: NOW } },
  )
  expect(points.reduce((sum, { observed }) => sum + observed, 0)).toBe(total)
  expect(byName.get('off')).toEqual([])
})

describe('access to signals', () => {
  const readers = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 404 }
  test.each(CALLERS.map((caller) => [caller, readers[caller as keyof typeof readers] ?? 401]))(
    'as %s: status %i',
    async (caller, status) => {
      const answer = await get(`?domainId=${blog}`, keys[caller as Caller])
      expect(answer.status).toBe(status as number)
    },
  )

  test("is limited to the signals of the caller's organization", async () => {
    const { body } = await get('', people.mallory.key)
    expect(body.signals).toMatchObject([{ domainId: theirs, event: 'theirs' }])
  })
})

test.each([
  'state=loud',
  'mode=loud',
  'series=maybe',
  'limit=0',
  'limit=201',
  'cursor=x',
  'cursor=WzFd',
  'cursor=WzEsMiwzXQ',
])('the signal list rejects %s', async (query) => {
  expect((await get(`?${query}`)).status).toBe(400)
})

test('a signal refers to its issue and to the issue that explains it', async () => {
  const alert = createAutoAlert(db, clock, { id: shop, orgId, name: 'Shop' })
  if (!alert) throw new Error('no automatic alert was created')
  const findingOf = (values: Partial<Finding>): Finding => ({
    domainId: shop,
    subject: '',
    vendor: null,
    event: null,
    occurrences: 1,
    summary: 'fell',
    observed: 0,
    expected: 9,
    firstAt: NOW - HOUR_MS,
    lastAt: NOW - 1,
    hosts: [],
    sample: null,
    sampleSeq: null,
    ...values,
  })
  const open = (...findings: Finding[]) =>
    applyFindings(
      db,
      {
        alert: { ...alert, impactValue: null, periodMs: HOUR_MS },
        findings,
        window: { from: NOW - HOUR_MS, to: NOW, complete: true },
        windowStartAt: NOW - HOUR_MS,
        inRunWindow: true,
        now: NOW,
      },
      () => {},
    )
  open(findingOf({ subject: 'GA buy', vendor: 'GA', event: 'buy' }))
  const shown = async () =>
    (await get(`?domainId=${shop}`)).body.signals.map(({ event, issueId, explainedBy }) => ({
      event,
      issueId,
      explainedBy,
    }))
  const issues = () => db.prepare<[], { id: string; subject: string; title: string }>('SELECT * FROM issue').all()
  const [own] = issues()
  expect((await shown()).filter(({ issueId }) => issueId !== null)).toEqual([
    { event: 'buy', issueId: own?.id ?? '', explainedBy: null },
  ])
  open(findingOf({}))
  const whole = issues().find(({ subject }) => subject === '')
  const explainedBy = { issueId: whole?.id ?? '', title: whole?.title ?? '' }
  expect((await shown()).filter((row) => row.explainedBy !== null)).toEqual([
    { event: 'buy', issueId: own?.id ?? '', explainedBy },
    { event: 'lead', issueId: null, explainedBy },
  ])
  db.exec(`UPDATE issue SET status = 'resolved'`)
  expect((await shown()).filter(({ issueId, explainedBy }) => issueId ?? explainedBy)).toEqual([])
})
