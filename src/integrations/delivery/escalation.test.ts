import { describe, expect, test } from 'bun:test'
import type { Alert } from '../../alerts/alert.ts'
import { setEnabled, updateAlert } from '../../alerts/alert-store.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { escalateDue } from '../../issues/escalate-issues.ts'
import { saveOrgSteps, shiftEscalations } from '../../issues/escalation-store.ts'
import { ISSUE_STATUSES, type IssueStatus, type NotificationRequest } from '../../issues/issue.ts'
import { findIssue } from '../../issues/store.ts'
import { insertIntegration } from '../store.ts'
import { channelAfter, escalationFixture, stepsAt } from './escalation.fixture.ts'
import { notifyHeldOpening } from './notifier.ts'
import { hook } from './outbox.fixture.ts'
import { releaseThrottled } from './outbox.ts'

const STEPS = [30, 60, 120]
const own = { escalation: { steps: stepsAt(...STEPS) } }

/** Every status, set before or after each step. The issue stays in it. */
const CASES = ISSUE_STATUSES.flatMap((status) => [0, ...STEPS].map((after): [IssueStatus, number] => [status, after]))

test.each(CASES)('an issue that is %s from minute %d on is escalated only until then', async (status, after) => {
  const { open, byHand, until, sent } = escalationFixture(own)
  open()
  await until(after)
  byHand(status)
  await until(300)
  const expected = status === 'open' ? STEPS : STEPS.filter((minutes) => minutes <= after)
  expect(sent()).toEqual(expected.map((minutes) => `${minutes}@${minutes}`))
})

test('a step is sent to its own channels and says how long nobody has acknowledged', async () => {
  const { open, until, send, deliveries, history } = escalationFixture(own)
  open()
  expect(send()).toEqual([`opened ${hook.target}`])
  await until(60)
  expect(send()).toEqual(['repeated after-30@example.com', 'repeated after-60@example.com'])
  const last = deliveries().at(-1)
  expect(last).toMatchObject({ escalationStep: 2, status: 'delivered' })
  expect(JSON.parse(last?.message ?? '').escalation).toEqual({
    step: 2,
    steps: 3,
    afterMinutes: 60,
    waitedMinutes: 60,
  })
  expect(history().filter(({ kind }) => kind === 'escalated')).toEqual([
    { kind: 'escalated', step: 1, afterMinutes: 30, channels: [channelAfter(30)] },
    { kind: 'escalated', step: 2, afterMinutes: 60, channels: [channelAfter(60)] },
  ])
})

test('the resolution is sent to the channels to which the issue was escalated, and to no others', async () => {
  const { open, byHand, until, send, clock } = escalationFixture(own)
  open()
  await until(30)
  send()
  byHand('resolved')
  clock.advance(MINUTE_MS)
  expect(send()).toEqual([`resolved ${hook.target}`, 'resolved after-30@example.com'])
})

test("an alert's own steps replace the organization's, and an empty list ends them", async () => {
  const cases: [Partial<Alert>, string[]][] = [
    [{}, ['10@10', '20@20']],
    [own, ['30@30']],
    [{ escalation: { steps: [] } }, []],
  ]
  for (const [alert, expected] of cases) {
    const { db, orgId, clock, open, until, sent } = escalationFixture(alert)
    saveOrgSteps(db, orgId, stepsAt(10, 20), clock.now())
    open()
    await until(30)
    expect(sent()).toEqual(expected)
  }
})

describe('an opening', () => {
  test('starts the steps again', async () => {
    const { open, opening, byHand, until, sent } = escalationFixture(own)
    open()
    await until(40)
    byHand('resolved')
    await until(50)
    opening('reopened')
    await until(120)
    expect(sent()).toEqual(['30@30', '30@80', '60@110'])
  })

  test('by hand starts the steps again without a notification', async () => {
    const { open, byHand, until, sent, summary } = escalationFixture(own)
    open()
    await until(40)
    byHand('acknowledged')
    await until(200)
    byHand('open')
    await until(230)
    expect(sent()).toEqual(['30@30', '30@230'])
    expect(summary().filter((one) => one.startsWith('reopened'))).toEqual([])
  })

  test('counts from its announcement when the throttle held it back', async () => {
    const throttle = { count: 1, per: 1, unit: 'hours' as const }
    const { db, clock, open, until, sent } = escalationFixture({ ...own, throttle })
    open('iss_0')
    open()
    await until(61)
    expect(sent('iss_0')).toEqual(['30@30', '60@60'])
    expect(sent()).toEqual([])
    const parts = { db, clock, publicUrl: 'https://watch.example' }
    releaseThrottled(db, clock.now(), (id) => notifyHeldOpening(parts, id))
    await until(91)
    expect(sent()).toEqual(['30@91'])
  })

  test('that nobody was notified of is not escalated', async () => {
    const { open, until, sent, db, box, clock, alert, orgId } = escalationFixture(own)
    const { id } = insertIntegration(db, box, {
      orgId,
      provider: 'webhook',
      label: 'Repeats',
      config: { url: 'https://hooks.example.com/b', notify: ['repeated'] },
      secrets: {},
      createdAt: clock.now(),
    })
    updateAlert(db, clock, keyOf(alert), { ...input(alert), channels: [{ type: 'webhook', target: id }] })
    open()
    await until(60)
    expect(sent()).toEqual([])
  })
})

test('steps that became due while the server was stopped are sent once, in order, a minute apart', async () => {
  const { open, escalate, until, sent, clock, deliveries } = escalationFixture(own)
  open()
  clock.advance(5 * HOUR_MS)
  await escalate()
  await escalate()
  expect(sent()).toEqual(['30@300'])
  await until(310)
  expect(sent()).toEqual(['30@300', '60@301', '120@302'])
  expect(JSON.parse(deliveries()[1]?.message ?? '').escalation.waitedMinutes).toBe(300)
})

test('a mute does not restart the escalation, and steps that were due follow when it ends', async () => {
  const { open, byHand, until, sent } = escalationFixture(own)
  open()
  await until(40)
  byHand('muted')
  await until(90)
  expect(sent()).toEqual(['30@30'])
  byHand('open')
  await until(120)
  expect(sent()).toEqual(['30@30', '60@91', '120@120'])
})

describe('changed steps', () => {
  test.each([
    [[], ['30@30']],
    [
      [30, 45, 120],
      ['30@30', '45@45', '120@120'],
    ],
    [
      [10, 35, 90],
      ['30@30', '90@90'],
    ],
  ])('become %j at minute 40', async (steps, expected) => {
    for (const where of ['organization', 'alert']) {
      const { db, orgId, clock, alert, open, until, sent } = escalationFixture(where === 'alert' ? own : {})
      const save = (minutes: readonly number[]) =>
        where === 'alert'
          ? updateAlert(db, clock, keyOf(alert), { ...input(alert), escalation: { steps: stepsAt(...minutes) } })
          : saveOrgSteps(db, orgId, stepsAt(...minutes), clock.now())
      save(STEPS)
      open()
      await until(40)
      save(steps)
      await until(200)
      expect([where, sent()]).toEqual([where, expected])
    }
  })

  test('do not lose a step that was due and not yet sent', async () => {
    const { db, clock, orgId, open, escalate, until, sent } = escalationFixture()
    saveOrgSteps(db, orgId, stepsAt(30, 60), clock.now())
    open()
    await escalate()
    clock.advance(3 * HOUR_MS)
    saveOrgSteps(db, orgId, stepsAt(30, 90), clock.now())
    await until(190)
    expect(sent()).toEqual(['30@181', '90@182'])
  })

  test('skip open issues that are older than the first steps', async () => {
    const { db, clock, orgId, open, until, sent } = escalationFixture()
    for (const id of ['iss_1', 'iss_2']) open(id)
    await until(100)
    saveOrgSteps(db, orgId, stepsAt(30, 110), clock.now())
    await until(120)
    expect([sent('iss_1'), sent('iss_2')]).toEqual([['110@110'], ['110@110']])
  })
})

const keyOf = ({ orgId, id }: Alert) => ({ orgId, id })
const input = ({ id, orgId, createdAt, updatedAt, ...rest }: Alert) => rest

test('nothing is escalated while the alert is disabled or outside its run windows', async () => {
  // The fixture starts at 12:00 UTC.
  const { open, until, sent, db, orgId } = escalationFixture({ ...own, runWindows: { hours: [8, 13] } })
  open()
  await until(8 * 60)
  expect(sent()).toEqual(['30@30'])
  const next = findIssue(db, orgId, 'iss_1').nextEscalation
  expect([next?.step, new Date(next?.at ?? 0).toISOString()]).toEqual([2, '2026-01-06T08:00:00.000Z'])
  await until(21 * 60)
  expect(sent()).toEqual(['30@30', '60@1200', '120@1201'])

  const other = escalationFixture(own)
  other.open()
  setEnabled(other.db, other.clock, keyOf(other.alert), false)
  await other.until(40)
  setEnabled(other.db, other.clock, keyOf(other.alert), true)
  await other.until(60)
  expect(other.sent()).toEqual(['60@60'])
})

test('an escalation is neither held back nor counted by the throttle', async () => {
  const throttle = { count: 1, per: 24, unit: 'hours' as const }
  const { open, until, send, issueRow } = escalationFixture({ ...own, throttle })
  open()
  send()
  await until(120)
  expect(send()).toHaveLength(3)
  expect(issueRow()).toMatchObject({ capReached: false, heldBack: 0 })
})

test('an integration that excludes repeats receives the escalation and the resolution', async () => {
  const { db, box, clock, alert, orgId, open, until, send, byHand } = escalationFixture()
  const { id } = insertIntegration(db, box, {
    orgId,
    provider: 'webhook',
    label: 'On-call',
    config: { url: 'https://hooks.example.com/b', notify: ['opened', 'resolved'] },
    secrets: {},
    createdAt: clock.now(),
  })
  const steps = [{ afterMinutes: 1, channels: [{ type: 'webhook' as const, target: id }] }]
  updateAlert(db, clock, keyOf(alert), { ...input(alert), escalation: { steps } })
  open()
  await until(1)
  expect(send()).toEqual([`opened ${hook.target}`, `repeated ${id}`])
  byHand('resolved')
  clock.advance(MINUTE_MS)
  expect(send()).toEqual([`resolved ${hook.target}`, `resolved ${id}`])
})

test('a queued escalation is withdrawn when somebody acknowledges the issue, but not when it is delivered late', async () => {
  const { open, until, send, byHand, summary, clock } = escalationFixture(own)
  open()
  send()
  await until(30)
  clock.advance(45 * MINUTE_MS)
  expect(send()).toEqual(['repeated after-30@example.com'])
  await until(76)
  byHand('acknowledged')
  expect(send()).toEqual([])
  expect(summary().at(-1)).toBe('repeated withdrawn')
})

test('issues of flow tests and audits use the steps of the organization', async () => {
  const { db, clock, orgId, issue, opening, until, sent } = escalationFixture()
  saveOrgSteps(db, orgId, stepsAt(30), clock.now())
  issue('iss_1', 'tst_1')
  db.prepare(`UPDATE issue SET alertType = 'flow_test', channels = ?`).run(JSON.stringify([hook]))
  opening('opened')
  await until(60)
  expect(sent()).toEqual(['30@30'])
})

test('a step that cannot be queued is reported and tried again, and does not delay others', async () => {
  const { db, clock, open, sent, enqueue, report, reported } = escalationFixture(own)
  open('iss_0')
  clock.advance(MINUTE_MS)
  open()
  clock.advance(30 * MINUTE_MS)
  const failing = (order: NotificationRequest) => {
    if (order.issueId === 'iss_0') throw new Error('a bug')
    enqueue(order)
  }
  await escalateDue({ db, clock, enqueue: failing, report })
  expect([reported.map(String), sent('iss_0'), sent()]).toEqual([['Error: a bug'], [], ['30@31']])
  clock.advance(MINUTE_MS)
  await escalateDue({ db, clock, enqueue, report })
  expect(sent('iss_0')).toEqual(['30@32'])
})

test('each step follows after the intended time when the clock is set back', async () => {
  const { db, clock, open, escalate, until, sent, start } = escalationFixture(own)
  open()
  await until(40)
  const latestAt = clock.now()
  clock.set(start - HOUR_MS)
  shiftEscalations(db, { at: clock.now(), latestAt })
  await escalate()
  await until(-41)
  expect(sent()).toEqual(['30@30'])
  await until(-40)
  expect(sent()).toEqual(['30@30', '60@-40'])
})

test('finding the due steps of 100,000 issues uses the index', () => {
  const { db } = escalationFixture()
  const plan = db
    .prepare<[], { detail: string }>(
      'EXPLAIN QUERY PLAN SELECT issueId AS id FROM escalation WHERE checkAt <= 1 ORDER BY checkAt LIMIT 200',
    )
    .all()
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('escalationToCheck')])
})
