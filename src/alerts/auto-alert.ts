import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { cutText } from '../core/text.ts'
import { SIGNAL_SENSITIVITY } from '../signals/signal.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { type Alert, type AlertInput, domainsOf } from './alert.ts'
import { createAlert, deleteAlert, findAlert } from './store.ts'
import { alertTypeOf } from './types/index.ts'
import { everySignal } from './types/volume/anomaly.ts'

/** A domain as its automatic alert needs it. */
export interface AlertedDomain {
  id: string
  orgId: string
  name: string
}

const NAME = 'Automatic signals: '
const MAX_NAME_LENGTH = 200

/** The alert that a domain is given: every signal of it, told to whoever owns the organization. */
export function autoAlertInput({ id, name }: AlertedDomain): AlertInput {
  return {
    name: cutText(NAME + name, MAX_NAME_LENGTH, '…'),
    domainId: id,
    severity: 'medium',
    ...everySignal(SIGNAL_SENSITIVITY),
    channels: [{ type: 'email', target: 'owners' }],
  }
}

/** Domains that never had an automatic alert and got at least so many events since then, whatever they were. */
export function domainsToAlert(db: Db, since: Instant, minEvents: number): AlertedDomain[] {
  return db
    .prepare<[object], AlertedDomain>(
      `SELECT id, orgId, name FROM domain
       WHERE id NOT IN (SELECT domainId FROM signalAlert)
         AND (SELECT sum(events) FROM usage WHERE domainId = domain.id AND hour > @since) >= @minEvents
       ORDER BY id`,
    )
    .all({ since, minEvents })
}

/** Gives a domain its automatic alert, once for ever. Null when it has had one, and while its organization has too many. */
export function makeAutoAlert(db: Db, clock: Clock, domain: AlertedDomain): Alert | null {
  return tx(db, () => {
    if (db.prepare('SELECT 1 FROM signalAlert WHERE domainId = ?').get(domain.id)) return null
    try {
      const alert = createAlert(db, clock, domain.orgId, autoAlertInput(domain))
      db.prepare('INSERT INTO signalAlert (domainId, alertId) VALUES (?, ?)').run(domain.id, alert.id)
      return alert
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict') return null
      throw error
    }
  })
}

/** The automatic alert of a domain as it is now; null: it has none yet, or somebody deleted it. */
export function autoAlertOf(db: Db, { orgId, domainId }: { orgId: string; domainId: string }): Alert | null {
  const found = prepared<[string, string], { alertId: string }>(
    db,
    'SELECT alertId FROM signalAlert JOIN alert ON alert.id = alertId WHERE domainId = ? AND orgId = ?',
  ).get(domainId, orgId)
  return found ? findAlert(db, { orgId, id: found.alertId }) : null
}

/** Whose whole traffic is followed by an automatic alert that is switched on, and how. */
export function autoWatched(db: Db): { orgId: string; domainId: string; sensitivity: number; timezone: string }[] {
  return db
    .prepare<[], { id: string; orgId: string; domainId: string }>(
      `SELECT alert.id, alert.orgId, domainId FROM signalAlert JOIN alert ON alert.id = alertId
         JOIN domain ON domain.id = domainId WHERE enabled = 1 ORDER BY domainId`,
    )
    .all()
    .map(({ id, orgId, domainId }) => {
      const alert = findAlert(db, { orgId, id })
      return { orgId, domainId, sensitivity: signalSensitivity(alert), timezone: alert.timezone }
    })
}

/** That of signals which have none of their own. The alert may be anything by now. */
export function signalSensitivity(alert: Alert): number {
  return alertTypeOf(alert.alertType).sensitivityOf?.(alert) ?? SIGNAL_SENSITIVITY
}

/**
 * Removes the automatic alerts of domains that are gone, unless somebody made them watch another domain as well.
 * `deleted` is called before, in the same transaction. True when there was one.
 */
export function removeOrphans(db: Db, deleted: (alert: Alert) => void): boolean {
  return tx(db, () => {
    const gone = db
      .prepare<[], { domainId: string; alertId: string | null; orgId: string | null }>(
        `SELECT domainId, alertId, orgId FROM signalAlert LEFT JOIN alert ON alert.id = alertId
         WHERE domainId NOT IN (SELECT id FROM domain)`,
      )
      .all()
    for (const { domainId, alertId, orgId } of gone) {
      db.prepare('DELETE FROM signalAlert WHERE domainId = ?').run(domainId)
      if (alertId === null || orgId === null) continue
      const watched = domainsOf(findAlert(db, { orgId, id: alertId }))
      if (watched.every((id) => id === domainId) && watched.length > 0) deleteAlert(db, { orgId, id: alertId }, deleted)
    }
    return gone.length > 0
  })
}
