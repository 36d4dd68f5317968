import type { Channel } from '../alerts/alert.ts'
import { findAlert } from '../alerts/store.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Enqueue, NoticeOrder } from '../issues/issue.ts'
import { type IssueFacts, issueFacts } from '../issues/store.ts'
import type { Db } from '../store/database.ts'
import type { Throttle } from './delivery.ts'
import { buildMessage } from './message.ts'
import { enqueue, withdraw } from './outbox.ts'

/**
 * Carries out what the issues room orders: words the message from the facts of this moment and puts it into the
 * outbox, inside the transaction that changes the issue.
 */
export function notifier({ db, clock, publicUrl }: { db: Db; clock: Clock; publicUrl: string }): Enqueue {
  return (order) => {
    if (order.kind === 'withdraw') {
      withdraw(db, order.issueId)
      return
    }
    const facts = issueFacts(db, order.issueId)
    if (facts) notify({ db, clock, publicUrl }, order, facts)
  }
}

function notify(
  { db, clock, publicUrl }: { db: Db; clock: Clock; publicUrl: string },
  { transition, finding, historySeq, at, delayMs }: Extract<NoticeOrder, { kind: 'notify' }>,
  { issue, domain, openNow }: IssueFacts,
): void {
  const { channels, throttle } = waysOf(db, issue)
  const message = buildMessage({
    transition,
    at,
    publicUrl,
    issue,
    alert: { id: issue.alertId, name: issue.alertName },
    domain: issue.domainId !== null && domain !== null ? { id: issue.domainId, name: domain } : null,
    finding,
    openNow,
  })
  const { orgId, id: issueId, alertId } = issue
  enqueue(db, {
    orgId,
    issueId,
    alertId,
    transition,
    instance: historySeq,
    message,
    channels,
    throttle,
    delayMs,
    now: clock.now(),
  })
}

/** Whom the alert tells. A deleted alert tells nobody new; its resolutions still go to those who were told. */
function waysOf(db: Db, { orgId, alertId }: IssueFacts['issue']): { channels: Channel[]; throttle: Throttle | null } {
  try {
    const { channels, throttle } = findAlert(db, { orgId, id: alertId })
    return { channels, throttle: throttle ?? null }
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') return { channels: [], throttle: null }
    throw error
  }
}
