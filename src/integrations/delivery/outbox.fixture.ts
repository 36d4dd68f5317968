import { type Cast, cast, memoryDb, testBox, testClock } from '../../../test/fixtures.ts'
import type { AlertChannel } from '../../alerts/alert.ts'
import type { Finding } from '../../alerts/finding.ts'
import type { Transition } from '../../issues/issue.ts'
import { applyChanges, issueFacts } from '../../issues/store.ts'
import { type Db, prepared } from '../../store/database.ts'
import { buildMessage } from '../message/message.ts'
import type { DeliveryRecord } from './delivery.ts'
import { claimNext, type Queue, withdrawExpired } from './delivery-queues.ts'
import { listDeliveries } from './delivery-store.ts'
import { type Enqueued, enqueue, type Notice } from './outbox.ts'

export const hook: AlertChannel = { type: 'webhook', target: 'https://hooks.example.com/a' }
export const mail: AlertChannel = { type: 'email', target: 'ann@example.com' }

const finding: Finding = {
  domainId: null,
  subject: '',
  vendor: 'GA4',
  event: 'purchase',
  occurrences: 3,
  summary: '3 events broke the rule',
  observed: null,
  expected: null,
  firstAt: 0,
  lastAt: 0,
  hosts: ['shop.example'],
  sample: { params: { value: '' } },
  sampleSeq: null,
}

const FIRST = `SELECT * FROM delivery WHERE status = 'pending' AND behind = 0 ORDER BY dueAt, seq LIMIT 1`

/** A database with users, and helpers for testing the outbox. */
export function outboxFixture(path?: Db, known?: Cast) {
  const db = path ?? memoryDb()
  const clock = testClock()
  const people = known ?? cast(db, clock)
  const { orgId } = people
  let instance = 0

  /** Opens an issue of an alert without sending a notification. */
  function issue(id = 'iss_1', alertId = 'alr_1'): string {
    const now = clock.now()
    applyChanges(
      db,
      [
        {
          kind: 'open',
          issue: {
            id,
            orgId,
            alertId,
            alertName: 'Purchase has a value',
            alertType: 'data_validation',
            channels: null,
            domainId: null,
            subject: id,
            status: 'open',
            severity: 'high',
            title: 'Purchase has a value: events break the rule',
            impactValue: null,
            firstSeenAt: now,
            lastSeenAt: now,
            statusAt: now,
            statusBy: null,
            resolutionToldAt: null,
            clearWindows: 0,
            firing: true,
            firedWindowAt: now,
            hosts: ['shop.example'],
            evidence: finding,
          },
        },
      ],
      () => undefined,
    )
    return id
  }

  /** Enqueues a notification of a transition. Each call is a new instance, unless `values` specifies an instance. */
  function tell(transition: Transition, issueId = 'iss_1', values: Partial<Notice> = {}): Enqueued {
    const facts = issueFacts(db, issueId)
    if (!facts) throw new Error(`there is no ${issueId}`)
    const { issue, openNow } = facts
    const alert = { id: issue.alertId, name: issue.alertName }
    const publicUrl = 'https://watch.example'
    return enqueue(db, {
      orgId,
      issueId,
      alertId: issue.alertId,
      transition,
      instance: ++instance,
      message: buildMessage({
        transition,
        at: clock.now(),
        publicUrl,
        issue,
        alert,
        domain: null,
        finding,
        timezone: 'UTC',
        openNow,
      }),
      channels: [hook],
      throttle: null,
      now: clock.now(),
      ...values,
    })
  }

  /**
   * Claims up to `limit` due deliveries, regardless of concurrency limits. Those that have been due longest come first.
   */
  function take(limit = 100): DeliveryRecord[] {
    withdrawExpired(db, clock.now())
    const taken: DeliveryRecord[] = []
    while (taken.length < limit) {
      const first = prepared<[], Queue>(db, FIRST).get()
      const delivery = first && claimNext(db, first, clock.now())
      if (!delivery) break
      taken.push(delivery)
    }
    return taken
  }

  /** Every delivery, oldest first. */
  const deliveries = (): DeliveryRecord[] => listDeliveries(db, orgId, { limit: 1000 }).items.reverse()

  /** Transition and status of each delivery, oldest first: `opened delivered`, `resolved pending`. */
  const summary = () => deliveries().map(({ transition, status }) => `${transition} ${status}`)

  const history = (issueId = 'iss_1') =>
    db
      .prepare<[string], { kind: string; payload: string }>(
        'SELECT kind, payload FROM issueHistory WHERE issueId = ? ORDER BY seq',
      )
      .all(issueId)
      .map(({ kind, payload }) => ({ kind, ...JSON.parse(payload) }))

  const issueRow = (issueId = 'iss_1') => issueFacts(db, issueId)?.issue

  return { db, clock, box: testBox, people, orgId, issue, tell, take, deliveries, summary, history, issueRow }
}
