import { describe, expect, test } from 'bun:test'
import { DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { issueOfAlert, NOON, outcomeOf, volumeAlert } from './issue.fixture.ts'
import { ISSUE_STATUSES, type IssueRecord, type IssueStatus } from './issue.ts'
import { RESOLUTION_DELAY_MS, rewriteNotes, transition } from './transition-issue.ts'

/** An issue whose status was set by a user a day ago and whose notifications have all been sent. */
const issueIn = (status: IssueStatus, values: Partial<IssueRecord> = {}) => {
  const statusAt = NOON - DAY_MS
  const resolutionToldAt = status === 'resolved' ? statusAt + RESOLUTION_DELAY_MS : null
  return issueOfAlert(volumeAlert, { status, statusBy: 'usr_2', statusAt, resolutionToldAt, ...values })
}

const SAME = ['same', '', '']
/**
 * From each status to each status: the new status, history entry and notification. Null: the transition is rejected.
 */
const TABLE: Record<IssueStatus, Record<IssueStatus, string[] | null>> = {
  open: {
    open: SAME,
    acknowledged: ['acknowledged', 'acknowledged', ''],
    resolved: ['resolved', 'resolved', 'resolved'],
    muted: ['muted', 'muted', ''],
  },
  acknowledged: {
    open: ['open', 'reopened', ''],
    acknowledged: SAME,
    resolved: ['resolved', 'resolved', 'resolved'],
    muted: ['muted', 'muted', ''],
  },
  resolved: {
    open: ['open', 'reopened', 'withdraw reopened'],
    acknowledged: null,
    resolved: SAME,
    muted: ['muted', 'muted', 'withdraw'],
  },
  muted: {
    open: ['open', 'unmuted', ''],
    acknowledged: null,
    resolved: ['resolved', 'resolved', 'resolved'],
    muted: SAME,
  },
}

describe.each([...ISSUE_STATUSES])('a transition from %s', (from) => {
  test.each([...ISSUE_STATUSES])('to %s has the specified effects', (to) => {
    const expected = TABLE[from][to]
    const change = () => transition(issueIn(from), to, 'usr_1', NOON)
    if (expected === null) {
      expect(change).toThrow(new AppError('conflict', `status: a ${from} issue cannot become ${to}; open it first`))
      return
    }
    const { status, history, notified, counted } = outcomeOf(change())
    expect([status, history, notified, counted]).toEqual([...expected, 0])
  })
})

test('a status change records the user, the previous status and the time', () => {
  const changes = transition(issueIn('muted'), 'resolved', 'usr_1', NOON)
  expect(changes).toEqual([
    {
      kind: 'update',
      issueId: 'iss_1',
      values: { status: 'resolved', statusAt: NOON, statusBy: 'usr_1', resolutionToldAt: NOON + 10_000 },
    },
    {
      kind: 'history',
      issueId: 'iss_1',
      entry: 'resolved',
      payload: { by: 'usr_1', from: 'muted' },
      at: NOON,
      notice: { transition: 'resolved', finding: issueIn('muted').evidence, delayMs: 10_000 },
    },
  ])
})

test.each([
  ['resolved', 'open', NOON + 1, 'withdraw', null],
  ['resolved', 'open', NOON, 'withdraw reopened', null],
  ['resolved', 'muted', NOON + 1, 'withdraw', null],
  ['resolved', 'muted', NOON - 1, 'withdraw', NOON - 1],
  ['muted', 'open', null, '', null],
  ['muted', 'open', NOON - 1, 'reopened', null],
  ['muted', 'resolved', NOON - 1, '', NOON - 1],
  ['open', 'muted', null, '', null],
] as const)(
  'changing from %s to %s handles a resolution notification due at %p',
  (from, to, notifiedAt, notified, notifiedAfter) => {
    const changes = transition(issueIn(from, { resolutionToldAt: notifiedAt }), to, 'usr_1', NOON)
    expect(outcomeOf(changes).notified).toBe(notified)
    expect(changes[0]).toMatchObject({ values: { resolutionToldAt: notifiedAfter } })
  },
)

test.each([
  ['resolved', 0],
  ['muted', 0],
  ['acknowledged', 1],
] as const)('a %s issue that a user reopens has %d clear windows', (from, clearWindows) => {
  const [update] = transition(issueIn(from, { clearWindows: 1 }), 'open', 'usr_1', NOON)
  expect({ clearWindows: 1, ...(update?.kind === 'update' ? update.values : {}) }).toMatchObject({ clearWindows })
})

test.each([
  ['new', null, 'text', 'text'],
  ['changed', 'before', 'after', 'after'],
  ['removed', 'before', '', null],
] as const)('notes are stored and recorded in the history: %s', (_, before, text, notes) => {
  expect(rewriteNotes(issueIn('open', { notes: before }), text, 'usr_1', NOON)).toEqual([
    { kind: 'update', issueId: 'iss_1', values: { notes } },
    { kind: 'history', issueId: 'iss_1', entry: 'note', payload: { by: 'usr_1', text }, at: NOON, notice: null },
  ])
})

test.each([
  ['same', 'same'],
  [null, ''],
] as const)('unchanged notes (%p) write nothing', (before, text) => {
  expect(rewriteNotes(issueIn('open', { notes: before }), text, 'usr_1', NOON)).toEqual([])
})
