import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import type { Transition } from '../../issues/issue.ts'
import type { Outcome } from '../delivery-outcome.ts'
import type { DeliveryRecord, Throttle } from './delivery.ts'
import { recoverInterrupted } from './delivery-queues.ts'
import { replay } from './delivery-store.ts'
import { hook, mail, outboxFixture } from './outbox.fixture.ts'
import { withdrawResolutions } from './outbox.ts'
import { recordOutcome } from './record-attempt.ts'

const ok: Outcome = { verdict: 'delivered', note: null }
const later: Outcome = { verdict: 'retry', reason: 'HTTP 503', retryAfterMs: null }
const no: Outcome = { verdict: 'broken', reason: 'HTTP 410' }
const parts = { jitter: () => 0, mailConfigured: false }

function setUp() {
  const world = outboxFixture()
  const { db, clock, take } = world
  const end = (delivery: DeliveryRecord | undefined, outcome: Outcome) => {
    if (!delivery) throw new Error('there is no delivery')
    recordOutcome(db, delivery, outcome, { ...parts, now: clock.now() })
  }
  /** Sends the due deliveries with the same outcome for each, and returns them in order. */
  const send = (outcome: Outcome = ok) => {
    const sent: string[] = []
    for (let batch = take(); batch.length > 0; batch = take()) {
      for (const delivery of batch) {
        sent.push(delivery.transition)
        end(delivery, outcome)
      }
    }
    return sent
  }
  return { ...world, end, send }
}

describe('the deliveries of a notification', () => {
  test('are pending, one per channel, each with its own id', () => {
    const { issue, tell, deliveries, clock } = setUp()
    issue()
    const { deliveryIds, heldBack } = tell('opened', 'iss_1', { channels: [hook, mail, hook] })
    expect(heldBack).toBe(false)
    expect(deliveries().map(({ id }) => id)).toEqual(deliveryIds)
    expect(deliveries()).toMatchObject([
      { channelType: 'webhook', channelTarget: hook.target, status: 'pending', attempts: 0, dueAt: clock.now() },
      { channelType: 'email', channelTarget: mail.target, status: 'pending', issueId: 'iss_1', alertId: 'alr_1' },
    ])
  })

  test('are created once per instance', () => {
    const { issue, tell, deliveries } = setUp()
    issue()
    const first = tell('opened', 'iss_1', { instance: 7 })
    expect(tell('opened', 'iss_1', { instance: 7, throttle: { count: 1, per: 1, unit: 'hours' } })).toEqual(first)
    expect(deliveries()).toHaveLength(1)
    tell('reopened', 'iss_1', { instance: 7 })
    tell('reopened', 'iss_1', { instance: 8 })
    expect(deliveries()).toHaveLength(3)
  })

  test("are stored in the caller's transaction", () => {
    const { db, issue, tell, deliveries } = setUp()
    issue()
    const both = db.transaction(() => {
      tell('opened')
      throw new Error('the rest of the change failed')
    })
    expect(both).toThrow('the rest')
    expect(deliveries()).toEqual([])
  })
})

describe('claiming deliveries', () => {
  test('returns each delivery once, the earliest due first', () => {
    const { issue, tell, take, clock } = setUp()
    for (const id of ['iss_1', 'iss_2', 'iss_3']) {
      tell('opened', issue(id))
      clock.advance(SECOND_MS)
    }
    const [one, two] = [take(1), take(1)]
    expect([...one, ...two, ...take()].map(({ issueId }) => issueId)).toEqual(['iss_1', 'iss_2', 'iss_3'])
    expect(one[0]).toMatchObject({ status: 'sending', attempts: 1, lastAttemptAt: clock.now() })
    expect(take()).toEqual([])
  })

  test('orders deliveries by due time, not by creation', () => {
    const { issue, tell, take, clock } = setUp()
    tell('opened', issue('iss_1'), { delayMs: 10_000 })
    tell('opened', issue('iss_2'))
    clock.advance(10_000)
    expect(take().map(({ issueId }) => issueId)).toEqual(['iss_2', 'iss_1'])
  })

  test('does not return a delivery before its due time', () => {
    const { issue, tell, take, clock } = setUp()
    issue()
    tell('opened', 'iss_1', { delayMs: 10_000 })
    clock.advance(9999)
    expect(take()).toEqual([])
    clock.advance(1)
    expect(take()).toHaveLength(1)
  })
})

describe('the delivery order for one channel', () => {
  test('delays a later delivery until the outcome of the earlier one', () => {
    const { issue, tell, take, end, clock } = setUp()
    issue()
    tell('opened', 'iss_1', { channels: [hook, mail] })
    tell('reopened', 'iss_1', { channels: [hook, mail] })
    const [first, other] = take()
    expect([first?.transition, other?.transition]).toEqual(['opened', 'opened'])
    expect(take()).toEqual([])
    end(other, ok)
    expect(take().map(({ transition, channelType }) => [transition, channelType])).toEqual([['reopened', 'email']])
    end(first, later)
    expect(take()).toEqual([])
    clock.advance(5 * SECOND_MS)
    const [again] = take()
    expect(again).toMatchObject({ id: first?.id, attempts: 2 })
    end(again, no)
    expect(take()).toMatchObject([{ transition: 'reopened', channelType: 'webhook' }])
  })

  test('does not make issues wait for each other', () => {
    const { issue, tell, take, end } = setUp()
    tell('opened', issue('iss_1'))
    tell('opened', issue('iss_2'))
    end(take()[0], later)
    tell('reopened', 'iss_2')
    expect(take()).toEqual([])
    tell('opened', issue('iss_3'))
    expect(take()).toMatchObject([{ issueId: 'iss_3' }])
  })
})

describe('a resolution notification', () => {
  test.each<[string, Outcome | null, string[]]>([
    ['delivered', ok, ['opened delivered', 'resolved delivered']],
    ['rejected', no, ['opened failed']],
    ['not attempted yet', null, ['opened delivered', 'resolved delivered']],
  ])('is sent unless the opening notification failed (opening: %s)', (_name, outcome, expected) => {
    const { issue, tell, summary, take, end, send } = setUp()
    issue()
    tell('opened')
    if (outcome) end(take()[0], outcome)
    tell('resolved')
    send()
    expect(summary()).toEqual(expected)
  })

  test('waits for an opening notification that is being retried, and is withdrawn if the opening fails', () => {
    const { issue, tell, summary, take, end, send, clock } = setUp()
    issue()
    tell('opened')
    end(take()[0], later)
    tell('resolved')
    expect(take()).toEqual([])
    clock.advance(5 * SECOND_MS)
    end(take()[0], no)
    expect(send()).toEqual([])
    expect(summary()).toEqual(['opened failed', 'resolved withdrawn'])
  })

  test('is sent to the channels that were notified, not to the alert’s current channels', () => {
    const { issue, tell, deliveries, send } = setUp()
    issue()
    tell('opened', 'iss_1', { channels: [hook] })
    send()
    tell('resolved', 'iss_1', { channels: [mail] })
    expect(deliveries().map(({ transition, channelType }) => `${transition} ${channelType}`)).toEqual([
      'opened webhook',
      'resolved webhook',
    ])
  })

  test.each<Transition>(['reopened', 'repeated'])(
    'is sent to a channel that received a %s notification but not the opening',
    (transition) => {
      const { issue, tell, summary, send } = setUp()
      issue()
      tell('opened', 'iss_1', { channels: [] })
      tell('resolved')
      expect(summary()).toEqual([])
      tell(transition)
      send()
      tell('resolved')
      send()
      expect(summary()).toEqual([`${transition} delivered`, 'resolved delivered'])
    },
  )

  test('is not sent again after the issue is reopened without a notification', () => {
    const { issue, tell, summary, send } = setUp()
    issue()
    tell('opened')
    tell('resolved')
    send()
    tell('reopened')
    send(no)
    tell('resolved')
    send()
    expect(summary()).toEqual(['opened delivered', 'resolved delivered', 'reopened failed'])
  })

  test('is not sent again if the reopening notification it waited for is rejected', () => {
    const { issue, tell, summary, send, take, end } = setUp()
    issue()
    tell('opened')
    tell('resolved')
    send()
    tell('reopened')
    tell('resolved')
    end(take()[0], no)
    expect(send()).toEqual([])
    expect(summary()).toEqual(['opened delivered', 'resolved delivered', 'reopened failed', 'resolved withdrawn'])
  })

  test('that was delayed can be withdrawn', () => {
    const { db, issue, tell, summary, send, clock } = setUp()
    issue()
    tell('opened')
    send()
    tell('resolved', 'iss_1', { delayMs: 10_000 })
    clock.advance(9000)
    expect(withdrawResolutions(db, 'iss_1')).toBe(1)
    expect(withdrawResolutions(db, 'iss_1')).toBe(0)
    clock.advance(HOUR_MS)
    expect(send()).toEqual([])
    expect(summary()).toEqual(['opened delivered', 'resolved withdrawn'])
    tell('resolved')
    expect(send()).toEqual(['resolved'])
  })

  test('is withdrawn by a new occurrence, unless sending was already attempted', () => {
    const { issue, tell, summary, send, take, end, clock } = setUp()
    issue()
    tell('opened')
    send()
    tell('resolved', 'iss_1', { delayMs: 10_000 })
    tell('reopened')
    expect(send()).toEqual(['reopened'])
    tell('resolved')
    end(take()[0], later)
    tell('reopened')
    clock.advance(5 * SECOND_MS)
    expect(send()).toEqual(['resolved', 'reopened'])
    expect(summary()[1]).toBe('resolved withdrawn')
  })
})

test('no channel ever receives a resolution without an opening notification', () => {
  type Step =
    | { kind: 'tell'; transition: Transition }
    | { kind: 'send'; outcome: Outcome }
    | { kind: 'wait'; ms: number }
  const step = fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({
      kind: fc.constant('tell' as const),
      transition: fc.constantFrom<Transition>('opened', 'reopened', 'repeated', 'resolved'),
    }),
    fc.record({ kind: fc.constant('send' as const), outcome: fc.constantFrom(ok, later, no) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(5000, 60_000, HOUR_MS) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.option(fc.integer({ min: 1, max: 3 })), (steps, count) => {
      const { issue, tell, take, end, issueRow, clock } = setUp()
      const throttle: Throttle | null = count === null ? null : { count, per: 10, unit: 'minutes' }
      issue()
      const heard: Transition[] = []
      for (const one of steps) {
        if (one.kind === 'tell') tell(one.transition, 'iss_1', { throttle })
        else if (one.kind === 'wait') clock.advance(one.ms)
        else {
          for (const delivery of take()) {
            if (one.outcome === ok) heard.push(delivery.transition as Transition)
            end(delivery, one.outcome)
          }
        }
      }
      for (const [index, transition] of heard.entries()) {
        const before = heard[index - 1] ?? 'nothing'
        if (transition === 'resolved') expect(['nothing', 'resolved']).not.toContain(before)
      }
      expect(issueRow()?.notificationsSent).toBe(heard.length)
    }),
    { numRuns: 150 },
  )
})

describe('the throttle', () => {
  const throttle: Throttle = { count: 2, per: 10, unit: 'minutes' }

  test('allows `count` notifications, holds back the rest and marks the issue', () => {
    const { issue, tell, send, history, issueRow, clock } = setUp()
    for (const id of ['iss_1', 'iss_2', 'iss_3']) issue(id)
    const results = ['iss_1', 'iss_2', 'iss_3'].map((id) => tell('opened', id, { throttle, channels: [hook, mail] }))
    expect(results.map(({ heldBack, deliveryIds }) => [heldBack, deliveryIds.length])).toEqual([
      [false, 2],
      [false, 2],
      [true, 0],
    ])
    expect(issueRow('iss_3')).toMatchObject({ capReached: true, heldBack: 1, notificationsSent: 0 })
    expect(history('iss_3')).toEqual([{ kind: 'held_back', transition: 'opened', heldBack: 1 }])
    clock.advance(5 * MINUTE_MS)
    expect(tell('repeated', 'iss_3', { throttle }).heldBack).toBe(true)
    expect(issueRow('iss_3')).toMatchObject({ capReached: true, heldBack: 2 })
    expect(issueRow('iss_1')).toMatchObject({ capReached: false, heldBack: 0 })
    expect(send()).toHaveLength(4)
  })

  test('allows the next notification in a later window, and reports the number held back', () => {
    const { issue, tell, deliveries, issueRow, clock } = setUp()
    issue()
    for (const transition of ['opened', 'repeated', 'repeated', 'repeated'] as const) {
      tell(transition, 'iss_1', { throttle })
      clock.advance(MINUTE_MS)
    }
    expect(issueRow()).toMatchObject({ capReached: true, heldBack: 2 })
    clock.advance(6 * MINUTE_MS)
    expect(tell('repeated', 'iss_1', { throttle }).heldBack).toBe(false)
    expect(issueRow()).toMatchObject({ capReached: false, heldBack: 0 })
    expect(deliveries().map(({ message }) => JSON.parse(message).heldBack)).toEqual([0, 0, 2])
  })

  test('counts each alert separately', () => {
    const { issue, tell } = setUp()
    issue('iss_1', 'alr_1')
    issue('iss_2', 'alr_2')
    const once: Throttle = { count: 1, per: 1, unit: 'hours' }
    expect(tell('opened', 'iss_1', { throttle: once }).heldBack).toBe(false)
    expect(tell('opened', 'iss_2', { throttle: once }).heldBack).toBe(false)
    expect(tell('repeated', 'iss_2', { throttle: once }).heldBack).toBe(true)
  })

  test('delays a resolution until the limit allows it, and never drops it', () => {
    const { issue, tell, send, summary, clock } = setUp()
    issue()
    const once: Throttle = { count: 1, per: 10, unit: 'minutes' }
    tell('opened', 'iss_1', { throttle: once })
    send()
    clock.advance(MINUTE_MS)
    expect(tell('resolved', 'iss_1', { throttle: once, delayMs: 10_000 }).heldBack).toBe(false)
    clock.advance(9 * MINUTE_MS - 1)
    expect(send()).toEqual([])
    clock.advance(1)
    expect(send()).toEqual(['resolved'])
    expect(summary()).toEqual(['opened delivered', 'resolved delivered'])
  })

  test('does not count withdrawn notifications, and restores the held-back count they would have reported', () => {
    const { db, issue, tell, send, issueRow, deliveries, clock } = setUp()
    issue()
    const once: Throttle = { count: 1, per: 10, unit: 'minutes' }
    tell('opened', 'iss_1', { throttle: once })
    send()
    tell('repeated', 'iss_1', { throttle: once })
    clock.advance(10 * MINUTE_MS)
    tell('resolved', 'iss_1', { throttle: once, delayMs: 10_000, channels: [hook] })
    expect(issueRow()).toMatchObject({ capReached: false, heldBack: 0 })
    withdrawResolutions(db, 'iss_1')
    expect(issueRow()).toMatchObject({ capReached: true, heldBack: 1 })
    expect(tell('repeated', 'iss_1', { throttle: once }).heldBack).toBe(false)
    expect(JSON.parse(deliveries().at(-1)?.message ?? '').heldBack).toBe(1)
  })

  test('never exceeds the limit in any window and counts everything held back', () => {
    const unit = fc.constantFrom('minutes' as const, 'hours' as const)
    const some = fc.record({ count: fc.integer({ min: 1, max: 4 }), per: fc.integer({ min: 1, max: 5 }), unit })
    const notice = fc.record({
      transition: fc.constantFrom<Transition>('reopened', 'repeated', 'resolved'),
      afterMs: fc.integer({ min: 0, max: 3 * MINUTE_MS }),
      issueId: fc.constantFrom('iss_1', 'iss_2'),
    })
    fc.assert(
      fc.property(some, fc.array(notice, { maxLength: 30 }), (limit, notices) => {
        const { db, issue, tell, send, issueRow, clock } = setUp()
        const windowMs = limit.per * (limit.unit === 'minutes' ? MINUTE_MS : HOUR_MS)
        for (const id of ['iss_1', 'iss_2']) issue(id)
        let held = 0
        for (const { transition, afterMs, issueId } of notices) {
          clock.advance(afterMs)
          if (tell(transition, issueId, { throttle: limit }).heldBack) held++
          send()
        }
        const went = db
          .prepare<[], { throttleAt: number; told: number }>(
            `SELECT throttleAt, json_extract(message, '$.heldBack') AS told FROM delivery
             WHERE status <> 'withdrawn' ORDER BY throttleAt`,
          )
          .all()
        for (const [index, { throttleAt }] of went.entries()) {
          const next = went[index + limit.count]
          if (next) expect(next.throttleAt - throttleAt).toBeGreaterThanOrEqual(windowMs)
        }
        const told = went.reduce((sum, row) => sum + row.told, 0)
        const waiting = (issueRow('iss_1')?.heldBack ?? 0) + (issueRow('iss_2')?.heldBack ?? 0)
        expect(told + waiting).toBe(held)
      }),
      { numRuns: 150 },
    )
  })
})

describe('a repeat notification', () => {
  test.each([
    ['that waited for half an hour is withdrawn', 30 * MINUTE_MS, [], 'repeated withdrawn'],
    ['that waited for less is sent', 30 * MINUTE_MS - 1, ['repeated'], 'repeated delivered'],
  ])('%s', (_name, waitMs, sent, end) => {
    const { issue, tell, send, summary, clock } = setUp()
    issue()
    tell('repeated')
    clock.advance(waitMs)
    expect(send()).toEqual(sent)
    expect(summary()).toEqual([end])
  })

  test('expires while it is being retried, and the next repeat reports its count', () => {
    const { issue, tell, send, summary, issueRow, clock } = setUp()
    issue()
    const once: Throttle = { count: 1, per: 1, unit: 'minutes' }
    tell('opened', 'iss_1', { throttle: once })
    tell('repeated', 'iss_1', { throttle: once })
    send()
    clock.advance(MINUTE_MS)
    tell('repeated', 'iss_1', { throttle: once })
    for (let minute = 0; minute < 31; minute++) {
      send(later)
      clock.advance(MINUTE_MS)
    }
    send()
    expect(summary()).toEqual(['opened delivered', 'repeated withdrawn'])
    expect(issueRow()).toMatchObject({ heldBack: 1, capReached: true })
  })

  test('that reached one channel counts as having reported the held-back count', () => {
    const { issue, tell, take, end, send, summary, issueRow, clock } = setUp()
    issue()
    const once: Throttle = { count: 1, per: 1, unit: 'minutes' }
    tell('opened', 'iss_1', { throttle: once })
    send()
    tell('repeated', 'iss_1', { throttle: once })
    clock.advance(MINUTE_MS)
    tell('repeated', 'iss_1', { throttle: once, channels: [hook, mail] })
    const [first, second] = take()
    end(first, ok)
    end(second, later)
    clock.advance(HOUR_MS)
    send()
    expect(summary()).toEqual(['opened delivered', 'repeated delivered', 'repeated withdrawn'])
    expect(issueRow()).toMatchObject({ heldBack: 0, capReached: false })
  })

  test('is the only kind of notification that expires', () => {
    const { issue, tell, send, clock } = setUp()
    issue()
    tell('opened')
    clock.advance(24 * HOUR_MS)
    expect(send()).toEqual(['opened'])
  })
})

describe('recovery after a crash', () => {
  test('sends interrupted deliveries again with the same id and all attempts', () => {
    const { db, issue, tell, take, end, summary, clock } = setUp()
    issue()
    tell('opened', 'iss_1', { channels: [hook, mail] })
    const [first, second] = take()
    end(second, ok)
    expect(take()).toEqual([])
    expect(recoverInterrupted(db)).toBe(1)
    expect(recoverInterrupted(db)).toBe(0)
    end(first, ok)
    expect(summary()).toEqual(['opened pending', 'opened delivered'])
    clock.advance(1)
    const again = take()
    expect(again.map(({ id, attempts }) => [id, attempts])).toEqual([[first?.id ?? '', 1]])
    // A late write by the crashed process is ignored.
    end(first, no)
    expect(summary()).toEqual(['opened sending', 'opened delivered'])
    end(again[0], ok)
    expect(summary()).toEqual(['opened delivered', 'opened delivered'])
  })
})

describe('a replay', () => {
  test('of a failed delivery has the same id and all its attempts', () => {
    const { db, orgId, issue, tell, take, end, summary, issueRow, clock } = setUp()
    issue()
    tell('opened')
    const [first] = take()
    end(first, no)
    clock.advance(HOUR_MS)
    const id = first?.id ?? ''
    expect(replay(db, orgId, id, clock.now())).toMatchObject({ id, status: 'pending', attempts: 0, lastError: null })
    const [again] = take()
    expect(again).toMatchObject({ id, attempts: 1 })
    end(again, ok)
    expect(summary()).toEqual(['opened delivered'])
    expect(issueRow()).toMatchObject({ notificationsSent: 1 })
  })

  test('of a delivered notification is not counted by the throttle', () => {
    const { db, orgId, issue, tell, deliveries, send, issueRow, clock } = setUp()
    issue()
    tell('opened')
    send()
    const deliveredAt = deliveries()[0]?.deliveredAt
    clock.advance(HOUR_MS)
    replay(db, orgId, deliveries()[0]?.id ?? '', clock.now())
    expect(send()).toEqual(['opened'])
    expect(issueRow()).toMatchObject({ notificationsSent: 1 })
    expect(deliveries()[0]).toMatchObject({ status: 'delivered', deliveredAt })
  })

  test('of a resolution is sent, because the opening notification was sent', () => {
    const { db, orgId, issue, tell, deliveries, send, clock } = setUp()
    issue()
    tell('opened')
    tell('resolved')
    send()
    replay(db, orgId, deliveries()[1]?.id ?? '', clock.now())
    expect(send()).toEqual(['resolved'])
  })

  test('of a pending delivery makes it due now, and a repeat does not expire', () => {
    const { db, orgId, issue, tell, deliveries, send, take, end, clock } = setUp()
    issue()
    tell('repeated')
    end(take()[0], later)
    replay(db, orgId, deliveries()[0]?.id ?? '', clock.now())
    clock.advance(HOUR_MS)
    expect(send()).toEqual(['repeated'])
  })

  test('is rejected while sending, after withdrawal, and for other organizations', () => {
    const { db, orgId, people, issue, tell, deliveries, take, clock } = setUp()
    issue()
    tell('opened')
    const id = deliveries()[0]?.id ?? ''
    take()
    expect(() => replay(db, orgId, id, clock.now())).toThrow(expect.objectContaining({ code: 'conflict' }))
    db.prepare(`UPDATE delivery SET status = 'withdrawn', lastError = 'out of date'`).run()
    expect(() => replay(db, orgId, id, clock.now())).toThrow('the delivery was withdrawn: out of date')
    expect(() => replay(db, people.mallory.orgId, id, clock.now())).toThrow(
      expect.objectContaining({ code: 'notFound' }),
    )
  })
})
