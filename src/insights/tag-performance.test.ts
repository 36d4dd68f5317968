import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { plainPage } from '../core/stored-page-view.fixture.ts'
import type { StoredPage } from '../core/stored-page-view.ts'
import { randomOf } from '../detector/series.fixture.ts'
import { compactPages } from '../warehouse/duckdb/compact-pages.ts'
import type { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { type HistoryFixture, openHistory } from './history.fixture.ts'
import { tagPerformance } from './tag-performance.ts'

const VENDORS: readonly [vendor: string, hosts: readonly string[]][] = [
  ['Google Tag Manager', ['www.googletagmanager.com']],
  ['Meta Pixel', ['connect.facebook.net', 'www.facebook.com']],
  ["o'neill & Söhne", ['b.example', 'a.example', 'jo.doe@mail.example']],
  ['only.seen.example', ['only.seen.example']],
  ['', ['']],
]

/** Generates page view rows over three days, with increasing frequency. */
function* pagesFrom(start: Instant, count: number, domains: HistoryFixture['domains'], orgs: readonly string[]) {
  const random = randomOf(7)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  for (let page = 1, rows = 0; rows < count; page++) {
    const at = Math.floor(random() * domains.length)
    const loaf = random() < 0.7
    const shared = {
      page,
      loaf,
      orgId: orgs[at] ?? '',
      domainId: domains[at]?.id ?? '',
      weight: pick([1, 4, 1 / 0.3]),
      receivedAt: start + Math.floor((rows / count) ** 0.5 * 72 * HOUR_MS),
      env: pick(['prod', 'dev'] as const),
    }
    const some = VENDORS.slice(0, -1).filter(() => random() < 0.5)
    const seen = some.length > 0 ? some : VENDORS.slice(-1)
    for (const [vendor, hosts] of seen) {
      for (const vendorHost of hosts.filter((_, n) => n === 0 || random() < 0.5)) {
        const requests = vendor === '' || vendor === 'only.seen.example' ? 0 : Math.floor(random() * 4)
        rows++
        yield plainPage({
          ...shared,
          vendor,
          vendorHost,
          requests,
          durMs: Array.from({ length: requests }, () => Math.round(random() ** 3 * 40_000) / 10),
          blockMs: loaf ? Math.round(random() ** 2 * 900 - 100 > 0 ? random() * 5000 : 0) / 10 : null,
          bytes: random() < 0.6 ? Math.floor(random() * 3e5) : null,
        })
      }
    }
  }
}

async function add(fixture: WarehouseFixture, pages: readonly StoredPage[]): Promise<void> {
  const { receivedAt = 0, orgId = '', domainId = '' } = pages[0] ?? {}
  const answer = { accepted: 0, rejected: 0, errors: [] }
  await fixture.spool.append([], { key: null, orgId, domainId, receivedAt, answer, ledger: [], pages: [...pages] })
}

const sum = (values: readonly (number | null)[]) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null)
/** Returns the smallest value that is at least as large as this share of the values. */
function nearestRank(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}

/** Returns the expected response, computed in the simplest way. */
function reference(pages: readonly StoredPage[]) {
  const views = Map.groupBy(pages, ({ page }) => page)
  const telling = [...views.values()].filter(([first]) => first?.loaf).length
  const allBlockMs = sum(pages.filter(({ vendor }) => vendor !== '').map(({ blockMs }) => blockMs))
  const vendors = [...Map.groupBy(pages, ({ vendor }) => vendor)].flatMap(([vendor, rows]) => {
    const own = [...Map.groupBy(rows, ({ page }) => page).values()].filter((view) =>
      view.some(({ requests, blockMs }) => requests > 0 || (blockMs ?? 0) > 0),
    )
    if (vendor === '' || own.length === 0) return []
    const sized = own.filter((view) => view.some(({ bytes }) => bytes !== null))
    const blocks = own.filter(([first]) => first?.loaf).map((view) => sum(view.map(({ blockMs }) => blockMs)))
    const took = rows.flatMap(({ durMs }) => durMs)
    const blockMs = sum(rows.map(({ blockMs }) => blockMs))
    const hosts = [
      ...new Set(rows.map(({ vendorHost }) => vendorHost.replace('jo.doe@mail.example', 'j***@m***.example'))),
    ]
    return [
      {
        vendor,
        hosts: hosts.sort(),
        pages: own.length,
        reqPerPage: sum(own.flat().map(({ requests }) => requests)) / own.length,
        p50DurMs: nearestRank(took, 0.5),
        p75DurMs: nearestRank(took, 0.75),
        maxMs: Math.max(0, ...took),
        p75BlockMs: nearestRank(blocks, 0.75),
        blockShare: allBlockMs === 0 ? 0 : blockMs / allBlockMs,
        kbPerPage: sized.length === 0 ? 0 : sum(known(sized.flat().map(({ bytes }) => bytes))) / 1000 / sized.length,
      },
    ]
  })
  return {
    pagesSampled: views.size,
    loafCoverage: views.size === 0 ? 0 : telling / views.size,
    vendors: vendors.sort((a, b) => b.p75BlockMs - a.p75BlockMs || b.blockShare - a.blockShare || b.pages - a.pages),
  }
}

/** Returns the value with fractions rounded, so that the last digits are not compared. */
const close = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'number' ? Number(part.toFixed(6)) : part)))

let history: HistoryFixture
const pages: StoredPage[] = []
beforeAll(async () => {
  history = await openHistory({ events: 0 })
  const { fixture, domains, orgId } = history
  const orgs = domains.map((_, at) => (at === 2 ? 'org_other' : orgId))
  pages.push(...pagesFrom(fixture.clock.now(), 20_000, domains, orgs))
  for (let at = 0; at < pages.length; at += 2500) {
    const part = pages.slice(at, at + 2500)
    fixture.clock.set(part[0]?.receivedAt ?? 0)
    for (const [, own] of Map.groupBy(part, ({ domainId }) => domainId)) {
      for (let n = 0; n < own.length; n += 200) await add(fixture, own.slice(n, n + 200))
    }
    await fixture.flush()
    if (at === 10_000) await compactPages(fixture.parquet, fixture.manifest, fixture.folder, fixture.clock.now())
  }
  fixture.clock.set((pages.at(-1)?.receivedAt ?? 0) + MINUTE_MS)
})
afterAll(() => history[Symbol.asyncDispose]())

const ask = (hours?: number, domainId?: string) => {
  const input = { ...(hours !== undefined && { hours }), ...(domainId !== undefined && { domainId }) }
  const now = history.fixture.clock.now()
  return tagPerformance.answer(history.sources(), input, { ...history.caller, now })
}

test.each([[undefined], [1], [744]])('the last %p hours of 20,000 rows match the reference', async (hours) => {
  const from = history.fixture.clock.now() - (hours ?? 24) * HOUR_MS
  for (const domainId of [undefined, history.domains[0]?.id, history.domains[1]?.id]) {
    const own = pages.filter(
      (page) =>
        page.orgId === history.orgId &&
        page.receivedAt >= from &&
        (domainId === undefined || page.domainId === domainId),
    )
    const answer = await ask(hours, domainId)
    expect(close(answer)).toEqual(close({ windowHours: hours ?? 24, ...reference(own) }))
    expect(answer.vendors.map(({ vendor }) => vendor)).toContain('only.seen.example')
    expect(sum(answer.vendors.map(({ blockShare }) => blockShare))).toBeCloseTo(1, 4)
  }
})

test('the result is the same after rows move to other files', async () => {
  const { fixture } = history
  const before = await ask(744)
  await compactPages(fixture.parquet, fixture.manifest, fixture.folder, fixture.clock.now() + 72 * HOUR_MS)
  expect(await ask(744)).toEqual(before)
})

test('the result is zero without measurements, and an unknown domain is not found', async () => {
  await using empty = await openHistory({ events: 0 })
  expect(await tagPerformance.answer(empty.sources(), { hours: 5 }, empty.caller)).toEqual({
    windowHours: 5,
    pagesSampled: 0,
    loafCoverage: 0,
    vendors: [],
  })
  await expect(ask(24, 'dom_none')).rejects.toThrow('no such domain')
  await expect(ask(24, history.domains[2]?.id)).rejects.toThrow('no such domain')
})

test('page views count even if no vendor was active on them', async () => {
  await using one = await openHistory({ events: 0 })
  const { fixture, orgId, domains } = one
  const row = (fields: Partial<StoredPage>) =>
    plainPage({ orgId, domainId: domains[0]?.id ?? '', receivedAt: fixture.clock.now(), ...fields })
  await add(fixture, [
    row({ page: 1, vendor: '', vendorHost: '', requests: 0, durMs: [], blockMs: null, loaf: false }),
    row({ page: 2, vendor: 'V', vendorHost: 'a', requests: 2, durMs: [10], blockMs: 30, bytes: 1500 }),
    row({ page: 2, vendor: 'V', vendorHost: 'b', requests: 1, durMs: [20, 30], blockMs: 12, bytes: null }),
    row({ page: 3, vendor: 'V', vendorHost: 'a', requests: 0, durMs: [], blockMs: 0 }),
    row({ page: 4, vendor: 'V', vendorHost: 'c', requests: 1, durMs: [], blockMs: null, loaf: false }),
  ])
  await fixture.flush()
  const answer = await tagPerformance.answer(one.sources(), {}, { ...one.caller, now: fixture.clock.now() })
  expect(answer).toEqual({
    windowHours: 24,
    pagesSampled: 4,
    loafCoverage: 0.5,
    vendors: [
      {
        vendor: 'V',
        hosts: ['a', 'b', 'c'],
        pages: 2,
        reqPerPage: 2,
        p50DurMs: 20,
        p75DurMs: 30,
        maxMs: 30,
        p75BlockMs: 42,
        blockShare: 1,
        kbPerPage: 1.5,
      },
    ],
  })
})
