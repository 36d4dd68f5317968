import { AppError } from '../core/error.ts'
import type { Db } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import { type CollectStatus, isFullName, isSpecialName, normalizeHostname, type RoutingMode } from './domain.ts'
import { NO_SUCH_DOMAIN } from './store.ts'

interface RoutingRow {
  name: string
  monitoredUrls: string
  collectHostname: string | null
}

/**
 * Sets the host that serves the domain's script and receives its events. `hostname` is the customer's hostname for mode
 * `custom`. When it is null, the previous hostname is used or, without one, `collect.` before the host that the domain
 * monitors. A new hostname is `pending` until it is checked. Throws `notFound`, and `invalid` when no hostname is
 * known.
 */
export function setRouting(db: Db, domain: OrgRowKey, mode: RoutingMode, hostname: string | null): void {
  const select = 'SELECT name, monitoredUrls, collectHostname FROM domain'
  const row = findOrgRow<RoutingRow>(db, select, domain, NO_SUCH_DOMAIN)
  const named = hostname ?? row.collectHostname ?? (mode === 'custom' ? likelyHostname(row) : null)
  if (mode === 'custom' && named === null) {
    throw new AppError('invalid', 'hostname: mode custom requires a hostname that points to the collector')
  }
  db.prepare(
    `UPDATE domain SET routingMode = @mode, collectHostname = @named,
       collectStatus = CASE WHEN collectHostname IS @named THEN collectStatus ELSE 'pending' END,
       collectCheckedAt = CASE WHEN collectHostname IS @named THEN collectCheckedAt END WHERE id = @id`,
  ).run({ id: domain.id, mode, named })
}

/**
 * Returns `collect.shop.example` for a domain that monitors `https://www.shop.example/` or has that host as its name;
 * null when there is no host.
 */
function likelyHostname({ monitoredUrls, name }: RoutingRow): string | null {
  const [url] = JSON.parse(monitoredUrls) as string[]
  const host = normalizeHostname((url && URL.parse(url)?.hostname) || name)
  return host && isFullName(host) && !isSpecialName(host) ? `collect.${host.replace(/^www\./, '')}` : null
}

/** A customer's hostname, and the token of a domain that uses the hostname. */
export interface CollectHost {
  id: string
  hostname: string
  token: string
  status: CollectStatus
}

/**
 * Returns at most `limit` hostnames that were last checked before `checkedBefore` or never checked, least recently
 * checked first.
 */
export function hostsToCheck(db: Db, checkedBefore: number, limit: number): CollectHost[] {
  return db
    .prepare<[number, number], CollectHost>(
      `SELECT id, collectHostname AS hostname, token, collectStatus AS status FROM domain
       WHERE collectHostname IS NOT NULL AND ifnull(collectCheckedAt, 0) < ? ORDER BY collectCheckedAt LIMIT ?`,
    )
    .all(checkedBefore, limit)
}

/** Makes hostnames whose check time is in the future due for a check. Called after the clock has been set back. */
export function recheckHosts(db: Db, now: number): void {
  db.prepare('UPDATE domain SET collectCheckedAt = NULL WHERE collectCheckedAt > ?').run(now)
}

/** Stores the result of a check, unless the hostname has changed in the meantime. */
export function noteHostCheck(db: Db, { id, hostname }: CollectHost, status: CollectStatus, now: number): void {
  db.prepare('UPDATE domain SET collectStatus = ?, collectCheckedAt = ? WHERE id = ? AND collectHostname = ?').run(
    status,
    now,
    id,
    hostname,
  )
}

/** Stores the time at which pages most recently requested the domain's script from the legacy host. */
export function noteLegacyScript(db: Db, id: string, now: number): void {
  db.prepare('UPDATE domain SET legacyScriptAt = ? WHERE id = ?').run(now, id)
}

/** Fractions of sessions, from 0 to 1, whose page views are stored. */
export interface PageViewRates {
  devRate: number
  prodRate: number
}

/** Returns the rates of a domain. Throws `notFound`. */
export function pageViewRates(db: Db, domain: OrgRowKey): PageViewRates {
  return findOrgRow(db, 'SELECT devRate, prodRate FROM domain', domain, NO_SUCH_DOMAIN)
}

/** Sets the given rates. Throws `notFound`. */
export function setPageViewRates(db: Db, domain: OrgRowKey, rates: Partial<PageViewRates>): void {
  const { devRate, prodRate } = { ...pageViewRates(db, domain), ...rates }
  db.prepare('UPDATE domain SET devRate = ?, prodRate = ? WHERE id = ?').run(devRate, prodRate, domain.id)
}
