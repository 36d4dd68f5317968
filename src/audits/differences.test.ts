import { expect, test } from 'bun:test'
import type { AuditPage } from './audit.ts'
import { type Crawled, differencesBetween } from './audit-runs.ts'
import { loaded } from './page.fixture.ts'

const page = (path: string, events: readonly string[], fields: Partial<AuditPage> = {}): AuditPage => ({
  ...loaded(path),
  tags: events.map((event) => ({ vendor: 'V', event, account: null, count: 1 })),
  missing: [],
  duplicates: [],
  beforeConsent: [],
  errors: [],
  ...fields,
})
const crawled = (pages: AuditPage[], isAll = true): Crawled => ({ id: 'run_1', pages, isAll })
const changes = (before: Crawled, after: Crawled) =>
  differencesBetween(before, after).pages.map(({ url, change, event }) =>
    [change, new URL(url).pathname, event].filter(Boolean).join(' '),
  )

const full = [page('/', ['a', 'b']), page('/x', ['a'])]

test.each<[string, Crawled, Crawled, string[]]>([
  ['nothing', crawled(full), crawled(full), []],
  ['a tag', crawled(full), crawled([page('/', ['b', 'c']), page('/x', ['a'])]), ['tag_gone / a', 'tag_new / c']],
  ['a page', crawled(full), crawled([page('/', ['a', 'b']), page('/y', [])]), ['page_new /y', 'page_gone /x']],
  ['a page that the other crawl may not have reached', crawled(full, false), crawled([page('/y', [])], false), []],
  ['a status', crawled(full), crawled([page('/', [], { status: 500 }), page('/x', ['a'])]), ['status /']],
  [
    'a page that did not respond',
    crawled(full),
    crawled([page('/', [], { status: null, error: 'x' }), page('/x', ['a'])]),
    ['status /'],
  ],
])('two crawls that differ in %s have the expected differences', (_what, before, after, expected) => {
  expect(changes(before, after)).toEqual(expected)
})

test('at most 1,000 differences are stored', () => {
  const many = Array.from({ length: 1500 }, (_, n) => page(`/${n}`, []))
  expect(differencesBetween(crawled([]), crawled(many)).pages).toHaveLength(1000)
})
