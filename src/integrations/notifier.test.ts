import { expect, test } from 'bun:test'
import type { AlertInput } from '../alerts/alert.ts'
import { createAlert, deleteAlert, updateAlert } from '../alerts/store.ts'
import { MINUTE_MS } from '../core/clock.ts'
import type { IssueStatus, NoticeOrder } from '../issues/issue.ts'
import { setStatus } from '../issues/store.ts'
import { notifier } from './notifier.ts'
import { hook, mail, outboxWorld } from './outbox.fixture.ts'
import { releaseCaps, takeDue } from './outbox.ts'
import { settle } from './settle.ts'

const input: AlertInput = {
  name: 'Purchase has a value',
  alertType: 'data_validation',
  period: '1h',
  channels: [hook, mail],
  throttle: { count: 3, per: 1, unit: 'hours' },
}

function setUp() {
  const world = outboxWorld()
  const { db, clock, orgId, people } = world
  const alert = createAlert(db, clock, orgId, input)
  const issueId = world.issue('iss_1', alert.id)
  const enqueue = notifier({ db, clock, publicUrl: 'https://watch.example' })
  let historySeq = 0
  const notify = (transition: 'opened' | 'repeated') => {
    const order: NoticeOrder = {
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
    const sent = takeDue(db, clock.now(), 100)
    const settling = { now: clock.now(), jitter: () => 0, mailConfigured: false }
    for (const delivery of sent) settle(db, delivery, { verdict: 'delivered', note: null }, settling)
    return sent.map(({ transition, channelType }) => `${transition} ${channelType}`)
  }
  return { ...world, alert, enqueue, notify, byHand, send }
}

test('a notice goes to the channels of the alert, with what the issue says', () => {
  const { notify, send, deliveries } = setUp()
  notify('opened')
  expect(send()).toEqual(['opened webhook', 'opened email'])
  expect(JSON.parse(deliveries()[0]?.message ?? '')).toMatchObject({
    sentence: 'Purchase has a value: 3 events broke the rule (GA4 purchase).',
    openNow: 1,
    url: 'https://watch.example/issues/iss_1',
  })
})

test('the throttle of the alert holds back', () => {
  const { notify, send, issueRow } = setUp()
  for (const transition of ['opened', 'repeated', 'repeated', 'repeated'] as const) notify(transition)
  expect(issueRow()).toMatchObject({ capReached: true, heldBack: 1 })
  expect(send()).toHaveLength(2)
})

test('the mark of the throttle goes when the alert may tell again, or has no throttle any more', () => {
  const { db, orgId, alert, notify, issueRow, clock } = setUp()
  for (const transition of ['opened', 'repeated', 'repeated', 'repeated'] as const) {
    notify(transition)
    clock.advance(MINUTE_MS)
  }
  clock.set(clock.now() + 56 * MINUTE_MS - 1)
  expect(releaseCaps(db, clock.now())).toBe(0)
  clock.advance(1)
  expect(releaseCaps(db, clock.now())).toBe(1)
  expect(issueRow()).toMatchObject({ capReached: false, heldBack: 1 })
  expect(releaseCaps(db, clock.now())).toBe(0)

  db.prepare('UPDATE issue SET capReached = 1').run()
  clock.set(clock.now() - MINUTE_MS)
  const { throttle: _none, ...unlimited } = input
  updateAlert(db, clock, { orgId, id: alert.id }, unlimited)
  expect(releaseCaps(db, clock.now())).toBe(1)
  db.prepare('UPDATE issue SET capReached = 1').run()
  deleteAlert(db, { orgId, id: alert.id }, () => undefined)
  expect(releaseCaps(db, clock.now())).toBe(1)
})

test('a resolution by hand waits ten seconds, and is not told when it is taken back', () => {
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

test('the end of a trouble is told although its alert is gone, and nothing else is', () => {
  const { db, orgId, alert, notify, byHand, send, clock } = setUp()
  notify('opened')
  send()
  deleteAlert(db, { orgId, id: alert.id }, () => byHand('resolved'))
  clock.advance(10_000)
  expect(send()).toEqual(['resolved webhook', 'resolved email'])
  notify('repeated')
  expect(send()).toEqual([])
})

test('an issue that is gone is told to nobody', () => {
  const { db, notify, send } = setUp()
  db.prepare('DELETE FROM issue').run()
  notify('opened')
  expect(send()).toEqual([])
})
