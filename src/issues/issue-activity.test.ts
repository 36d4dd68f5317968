import { expect, test } from 'bun:test'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { databaseWithOrgs, issueOfAlert, NOON, volumeAlert } from './issue.fixture.ts'
import type { HistoryKind, IssueStatus } from './issue.ts'
import { issueActivity } from './issue-activity.ts'
import { addHistory, applyChanges } from './store.ts'

const [FROM, TO] = [NOON, NOON + 7 * DAY_MS]
const BEFORE = FROM - DAY_MS
const WITHIN = FROM + DAY_MS
const AFTER = TO + DAY_MS

type Course = [HistoryKind, Instant][]
const STATUS: Partial<Record<HistoryKind, IssueStatus>> = {
  acknowledged: 'acknowledged',
  resolved: 'resolved',
  muted: 'muted',
}

test.each<[string, Course, string]>([
  ['opened in the period', [['opened', WITHIN]], 'opened open'],
  ['opened at the start of the period', [['opened', FROM]], 'opened open'],
  ['opened at the end of the period', [['opened', TO]], ''],
  ['opened before the period', [['opened', BEFORE]], 'open'],
  [
    'acknowledged',
    [
      ['opened', BEFORE],
      ['acknowledged', WITHIN],
    ],
    'open',
  ],
  [
    'fired and notified',
    [
      ['opened', BEFORE],
      ['fired', WITHIN],
      ['notified', WITHIN],
      ['note', WITHIN],
    ],
    'open',
  ],
  [
    'resolved in the period',
    [
      ['opened', BEFORE],
      ['resolved', WITHIN],
    ],
    'resolved',
  ],
  [
    'opened and resolved in the period',
    [
      ['opened', WITHIN],
      ['resolved', WITHIN + 5],
    ],
    'opened resolved',
  ],
  [
    'resolved before the period',
    [
      ['opened', BEFORE - 5],
      ['resolved', BEFORE],
    ],
    '',
  ],
  [
    'resolved after the period',
    [
      ['opened', BEFORE],
      ['resolved', AFTER],
    ],
    'open',
  ],
  [
    'reopened in the period',
    [
      ['opened', BEFORE - 5],
      ['resolved', BEFORE],
      ['reopened', WITHIN],
    ],
    'opened open',
  ],
  [
    'resolved and reopened in the period',
    [
      ['opened', BEFORE],
      ['resolved', WITHIN],
      ['reopened', WITHIN + 5],
    ],
    'opened open',
  ],
  [
    'resolved in the period and reopened after it',
    [
      ['opened', BEFORE],
      ['resolved', WITHIN],
      ['reopened', AFTER],
    ],
    'resolved',
  ],
  [
    'muted',
    [
      ['opened', BEFORE],
      ['muted', WITHIN],
    ],
    '',
  ],
  [
    'unmuted',
    [
      ['opened', BEFORE - 5],
      ['muted', BEFORE],
      ['unmuted', WITHIN],
    ],
    'open',
  ],
  [
    'resolved in the period while hosts were still muted',
    [
      ['opened', BEFORE - 5],
      ['muted', BEFORE],
      ['reopened', BEFORE + 1],
      ['resolved', WITHIN],
      ['unmuted', WITHIN + 5],
    ],
    'resolved',
  ],
  [
    'muted after the period',
    [
      ['opened', BEFORE],
      ['muted', AFTER],
    ],
    'open',
  ],
])('an issue is counted in the requested period: %s', (_, course, expected) => {
  const db = databaseWithOrgs()
  const [last] = course.toReversed().filter(([kind]) => !['fired', 'notified', 'note'].includes(kind))
  const issue = issueOfAlert(volumeAlert, { status: STATUS[last?.[0] ?? 'opened'] ?? 'open', statusAt: last?.[1] ?? 0 })
  applyChanges(db, [{ kind: 'open', issue }], () => {})
  for (const [kind, at] of course) addHistory(db, issue.id, kind, null, at)
  const words = (domainIds: readonly string[] | null, orgId = 'org_a') => {
    const { opened, resolved, open } = issueActivity(db, orgId, { from: FROM, to: TO }, domainIds)
    return Object.entries({ opened, resolved, open })
      .flatMap(([word, issues]) => issues.map(() => word))
      .join(' ')
  }
  expect(words(null)).toBe(expected)
  expect(words(['dom_shop', 'dom_none'])).toBe(expected)
  expect([words(['dom_none']), words([]), words(null, 'org_b')]).toEqual(['', '', ''])
})

test('the open time of resolved issues starts at their last opening', () => {
  const db = databaseWithOrgs()
  const courses: Course[] = [
    [
      ['opened', BEFORE],
      ['resolved', WITHIN],
    ],
    [
      ['opened', BEFORE - 5 * DAY_MS],
      ['resolved', BEFORE],
      ['reopened', WITHIN],
      ['acknowledged', WITHIN + 1],
      ['resolved', WITHIN + 60],
    ],
    [['opened', WITHIN]],
  ]
  for (const [n, course] of courses.entries()) {
    const [kind, statusAt] = course.at(-1) ?? []
    const issue = issueOfAlert(volumeAlert, {
      id: `iss_${n}`,
      subject: `${n}`,
      status: (kind && STATUS[kind]) ?? 'open',
      statusAt: statusAt ?? 0,
    })
    applyChanges(db, [{ kind: 'open', issue }], () => {})
    for (const [kind, at] of course) addHistory(db, issue.id, kind, null, at)
  }
  const { resolvedAfterMs } = issueActivity(db, 'org_a', { from: FROM, to: TO }, null)
  expect(resolvedAfterMs.toSorted((a, b) => a - b)).toEqual([60, 2 * DAY_MS])
})
