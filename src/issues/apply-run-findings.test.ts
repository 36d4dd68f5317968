import { describe, expect, test } from 'bun:test'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { applyRunFindings, type EndedRun, type RunFinding, type RunSubject } from './apply-run-findings.ts'
import { databaseWithOrgs, NOON } from './issue.fixture.ts'
import type { NotificationRequest } from './issue.ts'
import { AUDIT, FLOW_TEST } from './issue-kinds.ts'
import { listIssues } from './list-issues.ts'
import { findIssue, issueRecord, setStatus } from './store.ts'

const checkout: RunSubject = {
  kind: FLOW_TEST,
  id: 'tst_checkout',
  orgId: 'org_a',
  name: 'Checkout',
  domainId: 'dom_shop',
  severity: 'high',
  impactValue: 900,
  channels: [{ type: 'email', target: 'ann@example.com' }],
}

const missing: RunFinding = {
  kind: 'missing',
  vendor: 'Google Analytics 4',
  event: 'purchase',
  step: 3,
  sentence: 'Google Analytics 4 purchase did not fire after step 4',
  expected: 'at least 1',
  observed: 'none',
}
const failed: RunFinding = {
  kind: 'step_failed',
  vendor: null,
  event: null,
  step: 1,
  expected: null,
  observed: null,
  sentence: 'Step 2 failed: there is no such element',
}

/** Returns a database, and the notifications requested from the outbox. */
function world() {
  const db = databaseWithOrgs()
  const orders: NotificationRequest[] = []
  let runs = 0
  const end = (findings: RunFinding[], values: Partial<EndedRun> = {}, subject: RunSubject = checkout) => {
    const at = NOON + runs++ * MINUTE_MS
    const run = { id: `run_${runs}`, at, findings, isWhole: true, hosts: ['shop.example'], ...values }
    const enqueue = (order: NotificationRequest) => void orders.push(order)
    return applyRunFindings({ db, now: run.at, privacy: PLAIN_PRIVACY, enqueue }, subject, run)
  }
  const told = () => orders.splice(0).map((order) => (order.kind === 'notify' ? order.transition : order.kind))
  return { db, end, told }
}

const issuesIn = (db: Db) => listIssues(db, 'org_a', { sort: 'lastSeenAt' }).items
const onlyIssue = (db: Db) => {
  const [issue] = issuesIn(db)
  if (!issue) throw new Error('no issue')
  return issueRecord(db, 'org_a', issue.id)
}

describe('findings of runs', () => {
  test('open an issue with the details of the test, and notify its channels', () => {
    const { db, end, told } = world()
    end([missing])
    expect(told()).toEqual(['opened'])
    expect(onlyIssue(db)).toMatchObject({
      alertId: 'tst_checkout',
      alertName: 'Checkout',
      alertType: 'flow_test',
      domainId: 'dom_shop',
      subject: 'missing Google Analytics 4 purchase',
      severity: 'high',
      impactValue: 900,
      occurrences: 1,
      title: 'Checkout: Google Analytics 4 purchase did not fire after step 4',
      channels: checkout.channels,
      hosts: ['shop.example'],
      evidence: { runId: 'run_1', expectation: 'at least 1', observation: 'none', vendor: 'Google Analytics 4' },
    })
  })

  test('keep an issue open until the first run without them', () => {
    const { db, end, told } = world()
    for (let run = 0; run < 3; run++) end([missing], { at: NOON + run * 12 * HOUR_MS })
    expect(told()).toEqual(['opened', 'repeated', 'repeated'])
    expect(onlyIssue(db)).toMatchObject({ status: 'open', occurrences: 3, lastSeenAt: NOON + 24 * HOUR_MS })
    end([], { at: NOON + 25 * HOUR_MS })
    expect(told()).toEqual(['resolved'])
    const issue = onlyIssue(db)
    expect(issue).toMatchObject({ status: 'resolved', statusBy: null, occurrences: 3 })
    const { history } = findIssue(db, 'org_a', issue.id)
    expect(history.map(({ kind }) => kind)).toEqual(['opened', 'fired', 'fired', 'resolved'])
    expect(history.at(-1)?.payload).toMatchObject({ reason: 'not found in the latest run' })
  })

  test('trigger another notification only after 12 hours, regardless of how often runs repeat', () => {
    const { db, end, told } = world()
    for (let run = 0; run < 60; run++) end([missing], { at: NOON + run * 30 * MINUTE_MS })
    expect(told()).toEqual(['opened', 'repeated', 'repeated'])
    const issue = onlyIssue(db)
    expect(issue).toMatchObject({ occurrences: 60, lastSeenAt: NOON + 59 * 30 * MINUTE_MS })
    const { history } = findIssue(db, 'org_a', issue.id)
    expect(history.map(({ kind, createdAt }) => [kind, createdAt])).toEqual([
      ['opened', NOON],
      ['fired', NOON + 12 * HOUR_MS],
      ['fired', NOON + 24 * HOUR_MS],
    ])
    // Another problem in the same test triggers a notification immediately.
    end([missing, failed], { at: NOON + 60 * 30 * MINUTE_MS })
    expect(told()).toEqual(['opened'])
  })

  test('reopen a resolved issue', () => {
    const { db, end, told } = world()
    end([missing])
    end([])
    end([missing])
    expect(told()).toEqual(['opened', 'resolved', 'withdraw', 'reopened'])
    expect(issuesIn(db)).toHaveLength(1)
    expect(onlyIssue(db)).toMatchObject({ status: 'open', occurrences: 2, evidence: { runId: 'run_3' } })
  })

  test('are grouped into one issue per kind, vendor and event', () => {
    const { db, end } = world()
    end([missing, { ...missing, step: 5 }, { ...missing, event: 'refund' }, { ...missing, kind: 'duplicate' }, failed])
    const issues = issuesIn(db).map(({ title, occurrences }) => [title, occurrences])
    expect(issues.toSorted()).toEqual([
      ['Checkout: Google Analytics 4 purchase did not fire after step 4', 1],
      ['Checkout: Google Analytics 4 purchase did not fire after step 4', 1],
      ['Checkout: Google Analytics 4 purchase did not fire after step 4; 1 more of this kind', 1],
      ['Checkout: Step 2 failed: there is no such element', 1],
    ])
  })

  test('of an incomplete run are counted but resolve nothing', () => {
    const { db, end } = world()
    end([missing])
    end([failed], { isWhole: false })
    expect(issuesIn(db).map(({ status }) => status)).toEqual(['open', 'open'])
    end([failed], { isWhole: false })
    expect(issuesIn(db)[0]).toMatchObject({ status: 'open', occurrences: 2 })
    end([])
    expect(issuesIn(db).map(({ status }) => status)).toEqual(['resolved', 'resolved'])
  })

  test('leave muted issues muted, and send no notifications for acknowledged ones', () => {
    const { db, end, told } = world()
    const hand = { orgId: 'org_a', by: 'usr_1', now: NOON }
    end([missing])
    setStatus(db, hand, onlyIssue(db).id, 'acknowledged', () => {})
    end([missing])
    expect(told()).toEqual(['opened'])
    setStatus(db, hand, onlyIssue(db).id, 'muted', () => {})
    end([])
    end([missing])
    expect(told()).toEqual([])
    expect(onlyIssue(db)).toMatchObject({ status: 'muted', occurrences: 3 })
  })

  test('update the name, severity and channels to the current ones of the test', () => {
    const { db, end } = world()
    end([missing])
    const channels = [{ type: 'webhook' as const, target: 'https://hooks.example' }]
    end([missing], {}, { ...checkout, name: 'Buy', severity: 'low', channels })
    expect(onlyIssue(db)).toMatchObject({ alertName: 'Buy', severity: 'low', channels })
  })

  test('are grouped separately for tests and audits, and for each domain', () => {
    const { db, end } = world()
    end([missing])
    end([missing], {}, { ...checkout, kind: AUDIT, id: 'run_first' })
    end([missing], {}, { ...checkout, domainId: null })
    expect(issuesIn(db).map(({ alertType, status }) => [alertType, status])).toEqual([
      ['flow_test', 'open'],
      ['audit', 'open'],
      ['flow_test', 'resolved'],
    ])
  })

  test('include their most recent event, with personal data masked', () => {
    const { db, end } = world()
    const event = { vendor: 'Google Analytics 4', event: 'purchase', account: 'G-1', host: 'shop.example', path: '/' }
    const events = [
      { ...event, step: 3, params: { value: '1' } },
      { ...event, step: 3, params: { value: '2', mail: 'john@mail.example.com' } },
      { ...event, step: 4, params: { value: '3' } },
      { ...event, step: 3, vendor: 'Meta Pixel', params: {} },
    ]
    end([{ ...missing, kind: 'wrong_data' }], { events })
    expect(onlyIssue(db).evidence?.sample).toEqual({ ...event, params: { value: '2', mail: 'j***@m***.com' } })
  })

  test('are not counted twice after the clock is set back', () => {
    const { db, end } = world()
    end([missing], { at: NOON + 9 * HOUR_MS })
    end([missing], { at: NOON })
    end([], { at: NOON + MINUTE_MS })
    expect(onlyIssue(db)).toMatchObject({ status: 'resolved', occurrences: 2 })
  })
})
