import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ALERT_KINDS } from '../alerts/types/index.ts'
import { SEVERITIES } from '../contract/severities.ts'
import { AppError } from '../core/error.ts'
import { encodeCursor } from '../http/paging.ts'
import type { Db } from '../store/database.ts'
import { databaseWithOrgs, issueOfAlert, NOON, volumeAlert } from './issue.fixture.ts'
import { ISSUE_STATUSES, type IssueRecord } from './issue.ts'
import {
  dailyCountsOf,
  type IssueQuery,
  issueStatesOf,
  listIssues,
  listStatement,
  openCounts,
  openIssuesOf,
} from './list-issues.ts'
import { applyChanges } from './store.ts'

function databaseOf(issues: readonly Partial<IssueRecord>[]): Db {
  const db = databaseWithOrgs()
  for (const [index, { notes = null, trackerKey = null, occurrences = 0, ...values }] of issues.entries()) {
    const issue = issueOfAlert(volumeAlert, { id: `iss_${index}`, subject: `${index}`, ...values })
    const update = { kind: 'update', issueId: issue.id, values: { notes, trackerKey } } as const
    const count = { kind: 'count', issueId: issue.id, day: '2026-04-01', count: occurrences } as const
    applyChanges(db, [{ kind: 'open', issue }, update, count], () => {})
  }
  return db
}

function walk(db: Db, query: IssueQuery): string[] {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: ReturnType<typeof listIssues> = listIssues(db, 'org_a', { ...query, ...(cursor ? { cursor } : {}) })
    expect(page.items.length).toBeLessThanOrEqual(query.limit ?? 50)
    seen.push(...page.items.map((issue) => issue.id))
    cursor = page.nextCursor
  } while (cursor !== null)
  return seen
}

test('daily counts cover 14 UTC days up to now, with zeros, for the given issues', () => {
  const db = databaseOf([{}, {}, {}])
  const count = (issueId: string, day: string, count: number) => ({ kind: 'count', issueId, day, count }) as const
  const now = Date.UTC(2026, 3, 10, 23, 59)
  const days = ['2026-03-27', '2026-03-28', '2026-04-10'].map((day, index) => count('iss_0', day, index + 1))
  applyChanges(db, [...days, count('iss_2', '2026-04-09', 9)], () => {})
  expect(dailyCountsOf(db, ['iss_0', 'iss_1'], now)).toEqual({
    iss_0: [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3],
    iss_1: Array(14).fill(0),
  })
  expect(dailyCountsOf(db, [], now)).toEqual({})
})

test.each([
  [[], {}],
  [[{ status: 'resolved', firing: true }], {}],
  [[{ status: 'open' }], { alr_volume: 'violated' }],
  [[{ status: 'acknowledged', firing: true }], { alr_volume: 'violated' }],
  [[{ status: 'acknowledged', firing: false }], {}],
  [[{ status: 'muted' }], { alr_volume: 'muted' }],
  [[{ status: 'muted' }, { status: 'open' }], { alr_volume: 'violated' }],
  [[{ status: 'open', orgId: 'org_b' }], {}],
] as const)('an alert with the issues %j has the state %j', (issues, states) => {
  const db = databaseOf(issues.map((issue) => ({ alertId: 'alr_volume', ...issue })))
  expect(issueStatesOf(db, 'org_a', ['alr_volume', 'alr_other'])).toEqual(states)
})

const SORTS = ['severity', 'impactValue', 'lastSeenAt', 'firstSeenAt', 'occurrences'] as const
const anyIssue = fc.record({
  severity: fc.constantFrom(...SEVERITIES),
  impactValue: fc.constantFrom(null, 0, 1, 500),
  lastSeenAt: fc.integer({ min: NOON, max: NOON + 2 }),
  firstSeenAt: fc.integer({ min: NOON - 2, max: NOON }),
  occurrences: fc.integer({ min: 1, max: 3 }),
  status: fc.constantFrom(...ISSUE_STATUSES),
  orgId: fc.constantFrom('org_a', 'org_a', 'org_b'),
})

test('pages contain every issue once, in the requested order', () => {
  fc.assert(
    fc.property(
      fc.array(anyIssue, { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(undefined, ...SORTS),
      fc.constantFrom(undefined, ...ISSUE_STATUSES),
      (issues, limit, sort, status) => {
        const db = databaseOf(issues)
        const seen = walk(db, { limit, ...(sort ? { sort } : {}), ...(status ? { status: [status] } : {}) })
        const keysOf = (issue: (typeof issues)[number]) => {
          const { severity, impactValue, lastSeenAt, firstSeenAt, occurrences } = issue
          const [rank, value] = [SEVERITIES.indexOf(severity), impactValue ?? -1]
          if (sort === 'occurrences') return [occurrences, rank, lastSeenAt]
          if (sort === 'firstSeenAt') return [firstSeenAt, rank, value]
          if (sort === 'impactValue') return [value, rank, lastSeenAt]
          return sort === 'lastSeenAt' ? [lastSeenAt, rank, value] : [rank, value, lastSeenAt]
        }
        const expected = issues
          .map((issue, index) => ({ ...issue, id: `iss_${index}`, keys: keysOf(issue) }))
          .filter((issue) => issue.orgId === 'org_a' && (!status || issue.status === status))
          .sort((a, b) => {
            const differing = a.keys.findIndex((key, place) => key !== b.keys[place])
            if (differing >= 0) return (b.keys[differing] ?? 0) - (a.keys[differing] ?? 0)
            return a.id < b.id ? 1 : -1
          })
        expect(seen).toEqual(expected.map((issue) => issue.id))
        db.close()
      },
    ),
    { numRuns: 60 },
  )
})

describe('issue filters', () => {
  const db = databaseOf([
    { status: 'muted', severity: 'low', alertId: 'alr_a', domainId: 'dom_a', alertType: 'journey', lastSeenAt: NOON },
    { title: 'Cart 100% empty', notes: 'ask Ada', trackerKey: 'SHOP-7', lastSeenAt: NOON + 1 },
    { title: 'Cart 100 empty', domainId: null, lastSeenAt: NOON + 2 },
    { orgId: 'org_b', title: 'Cart', trackerKey: 'SHOP-7' },
  ])
  const project = db.prepare('INSERT INTO project (id, orgId, name, createdAt) VALUES (?, ?, ?, 0)')
  for (const [id, orgId] of Object.entries({ prj_shops: 'org_a', prj_empty: 'org_a', prj_other: 'org_b' })) {
    project.run(id, orgId, id)
  }
  db.prepare("UPDATE domain SET projectId = 'prj_shops' WHERE id = 'dom_shop'").run()

  test.each([
    [{ status: ['muted'] }, ['iss_0']],
    [{ severity: ['low'] }, ['iss_0']],
    [{ alertId: ['alr_a'] }, ['iss_0']],
    [{ alertId: ['alr_none'] }, []],
    [{ domainId: ['dom_a'] }, ['iss_0']],
    [{ alertType: ['journey'] }, ['iss_0']],
    [{ alertType: ['volume_threshold'], status: ['muted'] }, []],
    [{ status: ['muted', 'open'] }, ['iss_2', 'iss_1', 'iss_0']],
    [{ severity: ['low', 'critical'] }, ['iss_0']],
    [{ alertId: ['alr_a', 'alr_none'] }, ['iss_0']],
    [{ domainId: ['dom_a', 'dom_shop'] }, ['iss_1', 'iss_0']],
    [{ domainId: [''] }, []],
    [{ projectId: 'prj_shops' }, ['iss_1']],
    [{ projectId: 'prj_shops', domainId: ['dom_a'] }, []],
    [{ projectId: 'prj_empty' }, []],
    [{ since: NOON + 1 }, ['iss_2', 'iss_1']],
    [{ since: NOON + 3 }, []],
    [{ q: 'cart' }, ['iss_2', 'iss_1']],
    [{ q: '100% e' }, ['iss_1']],
    [{ q: '_' }, []],
    [{ q: 'ADA' }, ['iss_1']],
    [{ q: 'shop-7' }, ['iss_1']],
    [{ q: 'iss_2' }, ['iss_2']],
    [{ q: "'; DROP TABLE issue; --" }, []],
  ] satisfies [IssueQuery, string[]][])('select the matching issues: %j', (query, expected) => {
    expect(walk(db, { ...query, sort: 'lastSeenAt' })).toEqual(expected)
  })
})

test.each(['prj_none', 'prj_other'])(
  'a query for project %s, which is not in the organization, is rejected',
  (projectId) => {
    const db = databaseOf([])
    db.prepare("INSERT INTO project (id, orgId, name, createdAt) VALUES ('prj_other', 'org_b', 'Other', 0)").run()
    expect(() => listIssues(db, 'org_a', { projectId })).toThrow(new AppError('notFound', 'no such project'))
  },
)

test('open issues are counted for each requested alert or domain', () => {
  const db = databaseOf([
    { alertId: 'alr_a' },
    { alertId: 'alr_a', domainId: 'dom_a' },
    { alertId: 'alr_b', status: 'acknowledged' },
    { alertId: 'alr_c', orgId: 'org_b' },
    { alertId: 'alr_d' },
  ])
  const ids = ['alr_a', 'alr_b', 'alr_c']
  expect(openIssuesOf(db, 'org_a', 'alertId', ids)).toEqual({ alr_a: 2, alr_b: 0, alr_c: 0 })
  expect(openIssuesOf(db, 'org_a', 'domainId', ['dom_shop', 'dom_a', 'dom_none'])).toEqual({
    dom_shop: 2,
    dom_a: 1,
    dom_none: 0,
  })
  expect(openIssuesOf(db, 'org_a', 'alertId', [])).toEqual({})
})

test('every alert type and severity can be stored and queried', () => {
  const db = databaseOf(
    ALERT_KINDS.map((alertType, index) => ({ alertType, severity: SEVERITIES[index % 4] ?? 'low' })),
  )
  expect(ALERT_KINDS.flatMap((alertType) => walk(db, { alertType: [alertType] }))).toHaveLength(ALERT_KINDS.length)
  expect(SEVERITIES.flatMap((severity) => walk(db, { severity: [severity] }))).toHaveLength(ALERT_KINDS.length)
})

test('only open issues are counted by severity', () => {
  const open = (severity: (typeof SEVERITIES)[number], more: Partial<IssueRecord> = {}) => ({ severity, ...more })
  const db = databaseOf([
    open('critical'),
    open('low'),
    open('low'),
    open('high', { status: 'acknowledged' }),
    open('critical', { orgId: 'org_b' }),
  ])
  expect(openCounts(db, 'org_a')).toEqual({ critical: 1, high: 0, medium: 0, low: 2 })
  expect(openCounts(db, 'org_none')).toEqual({ critical: 0, high: 0, medium: 0, low: 0 })
})

test.each([
  ['not a cursor', 'nonsense'],
  ['from another list', encodeCursor(['severity', 1])],
  ['from another sort order', encodeCursor(['lastSeenAt', 1, 1, 1, 'iss_1'])],
])('a cursor that is %s is rejected', (_, cursor) => {
  const db = databaseOf([])
  expect(() => listIssues(db, 'org_a', { cursor })).toThrow(AppError)
})

test('the next page in the default order is read from its index', () => {
  const db = databaseOf([])
  const cursor = encodeCursor(['severity', 3, 1, NOON, 'iss_1'])
  const { sql, values } = listStatement('org_a', { cursor })
  const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
  expect(plan.map((row) => row.detail)).toEqual([expect.stringContaining('issueByWeight')])
})
