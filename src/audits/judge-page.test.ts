import { expect, test } from 'bun:test'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import type { ExpectedPage } from './audit.ts'
import { AuditTally } from './audit-summary.ts'
import type { PageEvent, SeenPage } from './crawl-plan.ts'
import { pageJudge } from './judge-page.ts'
import { loaded } from './page.fixture.ts'

const event = (name: string, params: Record<string, string> = {}): PageEvent => ({
  vendor: 'Shop',
  event: name,
  account: null,
  params,
})
const page = (path: string, events: PageEvent[], fields: Partial<SeenPage> = {}): SeenPage => ({
  ...loaded(path),
  events,
  beforeConsent: [],
  errors: [],
  ...fields,
})
const judged = (expect: ExpectedPage[], seen: SeenPage) => pageJudge(expect, {}, PLAIN_PRIVACY).judge(seen)

const BUY: ExpectedPage = { vendor: 'Shop', event: 'buy' }
const BUY_WITH_ID: ExpectedPage = { ...BUY, data: [{ parameter: 'id', op: 'not_blank' }] }

test.each<[string, ExpectedPage[], SeenPage, string[]]>([
  ['events that fired', [BUY], page('/', [event('buy')]), []],
  ['events that did not fire', [BUY], page('/', [event('view')]), ['missing']],
  ['events that did not fire often enough', [{ ...BUY, min: 2 }], page('/', [event('buy')]), ['missing']],
  ['wrong data', [BUY_WITH_ID], page('/', [event('buy')]), ['wrong_data']],
  ['correct data', [BUY_WITH_ID], page('/', [event('buy', { id: '7' })]), []],
  ['events that must not fire', [{ ...BUY, max: 0 }], page('/', [event('buy')]), ['unexpected']],
  [
    'too many events',
    [{ ...BUY, max: 1 }],
    page('/', [event('buy', { id: '1' }), event('buy', { id: '2' })]),
    ['unexpected'],
  ],
  ['a duplicate event', [], page('/', [event('buy', { id: '1' }), event('buy', { id: '1' })]), ['duplicate']],
  ['an expectation for another path', [{ ...BUY, path: '^/thanks' }], page('/', []), []],
  ['an expectation for the path of the page', [{ ...BUY, path: '^/thanks' }], page('/thanks/1', []), ['missing']],
  ['a page that failed', [BUY], page('/', [], { status: 404 }), []],
  ['a page without a response', [BUY], page('/', [], { status: null, error: 'x' }), []],
])('a page has the expected findings: %s', (_what, expected, seen, kinds) => {
  expect(judged(expected, seen).faults.map(({ kind }) => String(kind))).toEqual(kinds)
})

test('the same problem on several pages is one finding with summed counts', () => {
  const tally = new AuditTally()
  for (const path of ['/a', '/b']) {
    const { page: kept, faults } = judged([BUY], page(path, [event('view')]))
    tally.add(kept, faults)
  }
  const { page: kept, faults } = judged([], page('/c?mail=jane@mail.example', [], { status: 500 }))
  expect(tally.add(kept, faults)).toEqual({
    pagesTotal: 3,
    pagesFailed: 1,
    vendors: 1,
    missing: 2,
    duplicates: 0,
    beforeConsent: 0,
    errors: 0,
  })
  expect(tally.findings(PLAIN_PRIVACY)).toMatchObject([
    { kind: 'missing', sentence: 'Shop buy did not fire on 2 pages, first on https://shop.example/a' },
  ])
  expect(tally.hostsSeen()).toEqual(['shop.example'])
})
