import { describe, expect, test } from 'bun:test'
import type { AlertInput } from '../../alerts/alert.ts'
import { createAlert, deleteAlert, setEnabled, updateAlert } from '../../alerts/alert-store.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import type { IssueStatus, NotificationRequest } from '../../issues/issue.ts'
import { applyChanges, setStatus } from '../../issues/store.ts'
import { notifier, notifyHeldOpening } from './notifier.ts'
import { hook, mail, outboxFixture } from './outbox.fixture.ts'
import { releaseThrottled } from './outbox.ts'
import { recordOutcome } from './record-attempt.ts'

const input: AlertInput = {
  name: 'Purchase has a value',
  alertType: 'data_validation',
  period: '1h',
  channels: [hook, mail],
  throttle: { count: 3, per: 1, unit: 'hours' },
}

function setUp() {
  const world = outboxFixture()
  const { db, clock, orgId, people } = world
  const alert = createAlert(db, clock, orgId, input)
  const issueId = world.issue('iss_1', alert.id)
  const enqueue = notifier({ db, clock, publicUrl: 'https://watch.example' })
  let historySeq = 0
  const notify = (transition: 'opened' | 'repeated') => {
    const order: NotificationRequest = {
      kind: 'notify',
      issueId,
      historySeq: ++historySeq,
      at: clock.now(),
      transition,
      finding: world.issueRow()?.evidence ?? null,
      delayMs: 0,
    }
    enqueue(order)
  }
  const byHand = (to: IssueStatus) =>
    setStatus(db, { orgId, by: people.bob.userId, now: clock.now() }, issueId, to, enqueue)
  const send = () => {
    const sent = world.take()
    const parts = { now: clock.now(), jitter: () => 0, mailConfigured: false }
    for (const delivery of sent) recordOutcome(db, delivery, { verdict: 'delivered', note: null }, parts)
    return sent.map(({ transition, channelType }) => `${transition} ${channelType}`)
  }
  return { ...world, alert, enqueue, notify, byHand, send }
}

test("a notification is sent to the alert's channels with the issue's data", () => {
  const { db, orgId, notify, send, deliveries } = setUp()
  db.prepare('UPDATE org SET timezone = ? WHERE id = ?').run('Europe/Berlin', orgId)
  notify('opened')
  expect(send()).toEqual(['opened webhook', 'opened email'])
  expect(JSON.parse(deliveries()[0]?.message ?? '')).toMatchObject({
    sentence: 'Purchase has a value: 3 events broke the rule (GA4 purchase).',
    openNow: 1,
    timezone: 'Europe/Berlin',
    url: 'https://watch.example/issues/iss_1',
  })
})

test("the alert's throttle holds back notifications", () => {
  const { notify, send, issueRow } = setUp()
  for (const transition of ['opened', 'repeated', 'repeated', 'repeated'] as const) notify(transition)
  expect(issueRow()).toMatchObject({ capReached: true, heldBack: 1 })
  expect(send()).toHaveLength(2)
})

test('`capReached` is cleared when the alert has no throttle or may notify again', () => {
  const { db, orgId, alert, notify, issueRow, clock } = setUp()
  for (const transition of ['opened', 'repeated', 'repeated', 'repeated'] as const) {
    notify(transition)
    clock.advance(MINUTE_MS)
  }
  clock.set(clock.now() + 56 * MINUTE_MS - 1)
  expect(releaseThrottled(db, clock.now(), () => undefined)).toBe(0)
  clock.advance(1)
  expect(releaseThrottled(db, clock.now(), () => undefined)).toBe(1)
  expect(issueRow()).toMatchObject({ capReached: false, heldBack: 1 })
  expect(releaseThrottled(db, clock.now(), () => undefined)).toBe(0)

  db.prepare('UPDATE issue SET capReached = 1').run()
  clock.set(clock.now() - MINUTE_MS)
  const { throttle: _none, ...unlimited } = input
  updateAlert(db, clock, { orgId, id: alert.id }, unlimited)
  expect(releaseThrottled(db, clock.now(), () => undefined)).toBe(1)
  db.prepare('UPDATE issue SET capReached = 1').run()
  deleteAlert(db, { orgId, id: alert.id }, () => undefined)
  expect(releaseThrottled(db, clock.now(), () => undefined)).toBe(1)
})

describe('a notification of a new issue that was held back by the throttle', () => {
  /** Issues that opened a minute apart, for one alert that is limited to one notification per hour. */
  function held(names: readonly string[], more: Partial<AlertInput> = {}) {
    const world = outboxFixture()
    const { db, clock, orgId } = world
    const parts = { db, clock, publicUrl: 'https://watch.example' }
    const throttle = { count: 1, per: 1, unit: 'hours' } as const
    const alert = createAlert(db, clock, orgId, { ...input, channels: [hook], throttle, ...more })
    const enqueue = notifier(parts)
    const say = (issueId: string, entry: 'opened' | 'fired', transition: 'opened' | 'repeated') => {
      const [finding, at] = [world.issueRow(issueId)?.evidence ?? null, clock.now()]
      const notice = { transition, finding, delayMs: 0 }
      applyChanges(db, [{ kind: 'history', issueId, entry, payload: null, at, notice }], enqueue)
    }
    for (const name of names) {
      say(world.issue(name, alert.id), 'opened', 'opened')
      clock.advance(MINUTE_MS)
    }
    const release = () => releaseThrottled(db, clock.now(), (issueId) => notifyHeldOpening(parts, issueId))
    const told = () => world.deliveries().map(({ transition, issueId }) => `${transition} ${issueId}`)
    const capped = () => names.filter((name) => world.issueRow(name)?.capReached)
    return { ...world, alert, parts, say, release, told, capped }
  }

  test('is sent as soon as the throttle allows, one by one, before any repeat', () => {
    const { clock, release, told, capped, say, deliveries } = held(['iss_1', 'iss_2', 'iss_3'])
    expect([told(), capped()]).toEqual([['opened iss_1'], ['iss_2', 'iss_3']])
    say('iss_1', 'fired', 'repeated')
    expect(release()).toBe(0)
    clock.advance(HOUR_MS - 3 * MINUTE_MS)
    release()
    expect([told(), capped()]).toEqual([
      ['opened iss_1', 'opened iss_2'],
      ['iss_1', 'iss_3'],
    ])
    expect(JSON.parse(deliveries()[1]?.message ?? '')).toMatchObject({ heldBack: 1 })
    release()
    clock.advance(HOUR_MS)
    release()
    expect(told()).toEqual(['opened iss_1', 'opened iss_2', 'opened iss_3'])
    clock.advance(HOUR_MS)
    release()
    release()
    expect([told().length, capped()]).toEqual([3, []])
  })

  const untold: [string, (world: ReturnType<typeof held>) => void][] = [
    ['is acknowledged', ({ db }) => db.prepare(`UPDATE issue SET status = 'acknowledged'`).run()],
    ['is resolved', ({ db }) => db.prepare(`UPDATE issue SET status = 'resolved'`).run()],
    ['no longer has an alert', ({ db, orgId, alert }) => deleteAlert(db, { orgId, id: alert.id }, () => undefined)],
    [
      'belongs to a disabled alert',
      ({ db, clock, orgId, alert }) => setEnabled(db, clock, { orgId, id: alert.id }, false),
    ],
  ]
  test.each(untold)('is not sent if the issue %s', (_name, change) => {
    const world = held(['iss_1', 'iss_2'])
    change(world)
    world.clock.advance(HOUR_MS)
    world.release()
    expect([world.told(), world.capped()]).toEqual([['opened iss_1'], []])
  })

  test('is not sent outside the run windows of its alert', () => {
    const hour = new Date(outboxFixture().clock.now()).getUTCHours()
    const world = held(['iss_1', 'iss_2'], { runWindows: { hours: [hour, (hour + 1) % 24] }, timezone: 'UTC' })
    world.clock.advance(HOUR_MS)
    world.release()
    expect(world.told()).toEqual(['opened iss_1'])
  })
})

test('a notification of a manual resolution waits ten seconds and is not sent if the resolution is reverted', () => {
  const { notify, byHand, send, clock } = setUp()
  notify('opened')
  send()
  byHand('resolved')
  clock.advance(9999)
  expect(send()).toEqual([])
  byHand('open')
  clock.advance(60_000)
  expect(send()).toEqual([])
  byHand('resolved')
  clock.advance(10_000)
  expect(send()).toEqual(['resolved webhook', 'resolved email'])
})

test('a notification of a resolution names the user and includes the notes', () => {
  const { notify, byHand, send, deliveries, clock, db } = setUp()
  notify('opened')
  send()
  db.prepare(`UPDATE issue SET notes = 'Rolled back'`).run()
  byHand('resolved')
  clock.advance(10_000)
  send()
  const last = JSON.parse(deliveries().at(-1)?.message ?? '')
  expect(last.sentence).toContain(': resolved by Bob')
  expect(last.issue).toMatchObject({ resolvedBy: 'Bob', notes: 'Rolled back' })
})

test('only resolution notifications are sent after the alert is deleted', () => {
  const { db, orgId, alert, notify, byHand, send, clock } = setUp()
  notify('opened')
  send()
  deleteAlert(db, { orgId, id: alert.id }, () => byHand('resolved'))
  clock.advance(10_000)
  expect(send()).toEqual(['resolved webhook', 'resolved email'])
  notify('repeated')
  expect(send()).toEqual([])
})

test('a deleted issue triggers no notification', () => {
  const { db, notify, send } = setUp()
  db.prepare('DELETE FROM issue').run()
  notify('opened')
  expect(send()).toEqual([])
})
