import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { cutText } from '../core/text.ts'
import { SIGNAL_SENSITIVITY } from '../signals/signal.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { type Alert, type AlertInput, domainsOf } from './alert.ts'
import { createAlert, deleteAlert, findAlert } from './alert-store.ts'
import { alertTypeOf } from './types/index.ts'
import { allSignals, isOnAllSignals } from './types/volume/volume-anomaly.ts'

/** The fields of a domain that are needed to create its automatic alert. */
export interface AutoAlertDomain {
  id: string
  orgId: string
  name: string
}

const NAME = 'Automatic signals: '
const MAX_NAME_LENGTH = 200

/**
 * Returns the input of a domain's automatic alert: it monitors every signal and notifies the owners of the organization.
 */
export function autoAlertInput({ id, name }: AutoAlertDomain): AlertInput {
  return {
    name: cutText(NAME + name, MAX_NAME_LENGTH, '…'),
    domainId: id,
    severity: 'medium',
    ...allSignals(SIGNAL_SENSITIVITY),
    channels: [{ type: 'email', target: 'owners' }],
  }
}

/**
 * Returns the domains that have never had an automatic alert and have received at least `minEvents` events of any kind
 * after `since`.
 */
export function domainsToAlert(db: Db, since: Instant, minEvents: number): AutoAlertDomain[] {
  return db
    .prepare<[object], AutoAlertDomain>(
      `SELECT id, orgId, name FROM domain
       WHERE id NOT IN (SELECT domainId FROM signalAlert)
         AND (SELECT sum(events) FROM usage WHERE domainId = domain.id AND hour > @since) >= @minEvents
       ORDER BY id`,
    )
    .all({ since, minEvents })
}

/**
 * Returns an alert that monitors all signals of this domain alone, such as one from the configuration of another
 * server; null if there is none.
 */
function alertOnAllSignals(db: Db, { id, orgId }: AutoAlertDomain): Alert | null {
  const ids = prepared<[object], { id: string }>(
    db,
    `SELECT id FROM alert WHERE orgId = @orgId AND alertType = @alertType AND input ->> '$.domainId' = @id
       AND ifnull(json_array_length(input, '$.domainIds'), 0) = 0 AND id NOT IN (SELECT alertId FROM signalAlert)
     ORDER BY id`,
  ).all({ id, orgId, alertType: allSignals(SIGNAL_SENSITIVITY).alertType })
  const alerts = ids.map((one) => findAlert(db, { orgId, id: one.id }))
  return alerts.find((alert) => alert !== null && isOnAllSignals(alert)) ?? null
}

/**
 * Creates a domain's automatic alert, at most once per domain. An existing alert that monitors all signals of the
 * domain becomes its automatic alert instead. Returns null when the domain already had an automatic
 * alert, or when its organization has the maximum number of alerts.
 */
export function createAutoAlert(db: Db, clock: Clock, domain: AutoAlertDomain): Alert | null {
  return tx(db, () => {
    if (db.prepare('SELECT 1 FROM signalAlert WHERE domainId = ?').get(domain.id)) return null
    try {
      const alert = alertOnAllSignals(db, domain) ?? createAlert(db, clock, domain.orgId, autoAlertInput(domain))
      db.prepare('INSERT INTO signalAlert (domainId, alertId) VALUES (?, ?)').run(domain.id, alert.id)
      return alert
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict') return null
      throw error
    }
  })
}

/** Returns a domain's automatic alert; null when it has not been created yet or was deleted. */
export function autoAlertOf(db: Db, { orgId, domainId }: { orgId: string; domainId: string }): Alert | null {
  const found = prepared<[string, string], { alertId: string }>(
    db,
    'SELECT alertId FROM signalAlert JOIN alert ON alert.id = alertId WHERE domainId = ? AND orgId = ?',
  ).get(domainId, orgId)
  return found ? findAlert(db, { orgId, id: found.alertId }) : null
}

/**
 * Returns the domains whose total traffic is monitored by an enabled automatic alert, with its sensitivity and time zone.
 */
export function domainsWithAutoAlert(
  db: Db,
): { orgId: string; domainId: string; sensitivity: number; timezone: string }[] {
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

/**
 * Returns the sensitivity for signals without a sensitivity setting. Accepts alerts of any type, because users may have
 * changed the type of the automatic alert.
 */
export function signalSensitivity(alert: Alert): number {
  const type = alertTypeOf(alert.alertType)
  return type.evaluated === 'along a series' ? type.sensitivityOf(alert) : SIGNAL_SENSITIVITY
}

/**
 * Deletes the automatic alerts of deleted domains, except those that a user extended to other domains. `deleted` is
 * called first, in the same transaction. Returns true when a domain with an automatic alert had been deleted.
 */
export function removeOrphanedAutoAlerts(db: Db, deleted: (alert: Alert) => void): boolean {
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
