import type { Alert } from '../alerts/alert.ts'
import { type AlertKey, findAlert } from '../alerts/store.ts'
import { AppError } from '../core/error.ts'
import type { Enqueue, NoticeOrder } from '../issues/issue.ts'
import { issueFacts } from '../issues/store.ts'
import type { Db } from '../store/database.ts'
import { buildMessage } from './message.ts'
import { enqueue, withdraw } from './outbox.ts'

export interface Noticing {
  db: Db
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
}

/** Null when the alert is gone. */
function alertOrNull(db: Db, key: AlertKey): Alert | null {
  try {
    return findAlert(db, key)
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') return null
    throw error
  }
}

/**
 * What the issues ask for when they change: notices go to the outbox, in the transaction of the change. Of an alert
 * that is gone only resolutions are told, to the channels that were told of the trouble.
 */
export function enqueuer({ db, publicUrl }: Noticing): Enqueue {
  const notify = (order: Extract<NoticeOrder, { kind: 'notify' }>) => {
    const facts = issueFacts(db, order.issueId)
    if (!facts) return
    const { issue, domain, openNow } = facts
    const { transition, at, finding, delayMs, historySeq } = order
    const alert = alertOrNull(db, { orgId: issue.orgId, id: issue.alertId })
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
    enqueue(db, {
      orgId: issue.orgId,
      issueId: issue.id,
      alertId: issue.alertId,
      transition,
      instance: historySeq,
      message,
      channels: alert?.channels ?? [],
      throttle: alert?.throttle ?? null,
      delayMs,
      now: at,
    })
  }
  return (order) => {
    if (order.kind === 'withdraw') withdraw(db, order.issueId)
    else notify(order)
  }
}
