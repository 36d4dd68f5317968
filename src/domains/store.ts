import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId, newSecret } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, likePattern, prepared, tx } from '../store/database.ts'
import { deleteOrgRow, findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import type { DomainInput, DomainRecord, Hostname, HostnameStatus } from './domain.ts'
import { isBlankPattern } from './vendor-pattern.ts'

/** Time for which a replaced property token still works. */
export const TOKEN_GRACE_MS = DAY_MS

interface DomainRow extends Omit<DomainRecord, 'monitoredUrls' | 'vendors' | 'allowManualMonitoring' | 'vendorsSeen'> {
  monitoredUrls: string
  vendors: string
  vendorsSeen: string
  allowManualMonitoring: number
}

// `usage` is stored by hour. The period consists of the current hour and every hour that began in the last 24 hours.
const SELECT_DOMAIN = `
  SELECT id, orgId, projectId, name, system, token, monitoredUrls, vendors, allowManualMonitoring, lastEventAt,
    prodVersion, createdAt, routingMode, collectHostname, collectStatus, legacyScriptAt,
    (SELECT json_group_array(vendor) FROM domainVendor WHERE domainId = domain.id AND lastSeenAt > @seenSince)
      AS vendorsSeen,
    (SELECT ifnull(sum(events), 0) FROM usage WHERE domainId = domain.id AND hour > @since) AS events24h`

function recordOf(row: DomainRow): DomainRecord {
  return {
    ...row,
    monitoredUrls: JSON.parse(row.monitoredUrls),
    vendors: JSON.parse(row.vendors),
    vendorsSeen: JSON.parse(row.vendorsSeen),
    allowManualMonitoring: row.allowManualMonitoring === 1,
  }
}

const SEEN_MS = 7 * DAY_MS
const since = (now: Instant) => ({ since: now - DAY_MS, seenSince: now - SEEN_MS })

/** Message of the error for an unknown domain. */
export const NO_SUCH_DOMAIN = 'no such domain'

/** Returns the domain. Throws `notFound` when the organization has no domain with this id. */
export function findDomain(db: Db, domain: OrgRowKey, now: Instant): DomainRecord {
  const select = `${SELECT_DOMAIN}, screenshotBase64 FROM domain`
  return recordOf(findOrgRow<DomainRow>(db, select, { ...domain, ...since(now) }, NO_SUCH_DOMAIN))
}

/** True when the organization has a domain with this id. */
export function hasDomain(db: Db, { orgId, id }: OrgRowKey): boolean {
  return prepared(db, 'SELECT 1 FROM domain WHERE orgId = ? AND id = ?').get(orgId, id) !== undefined
}

/** Throws `notFound` when the organization has no domain with this id. */
export function requireDomain(db: Db, domain: OrgRowKey): void {
  if (!hasDomain(db, domain)) throw new AppError('notFound', NO_SUCH_DOMAIN)
}

/** Returns the id of the domain's project; null when it is in none. */
export function projectIdOf(db: Db, domainId: string): string | null {
  const find = prepared<[string], { projectId: string | null }>(db, 'SELECT projectId FROM domain WHERE id = ?')
  return find.get(domainId)?.projectId ?? null
}

/** True when a domain of the organization has sent events of the vendor or defines it by a URL pattern. */
export function hasVendor(db: Db, orgId: string, vendor: string): boolean {
  const find = prepared<[object]>(
    db,
    `SELECT 1 FROM domain WHERE orgId = @orgId AND (
       EXISTS (SELECT 1 FROM domainVendor WHERE domainId = domain.id AND vendor = @vendor)
       OR EXISTS (SELECT 1 FROM json_each(vendors) WHERE value ->> 'vendorName' = @vendor)) LIMIT 1`,
  )
  return find.get({ orgId, vendor }) !== undefined
}

/** A filter for domains. An empty filter matches all domains. */
export interface DomainFilter {
  /** Part of the name, ignoring the case of ASCII letters, or the id. */
  q?: string
  projectId?: string
}

/** SQL expressions by which domains can be sorted. */
const DOMAIN_ORDERS = {
  name: 'lower(name)',
  events24h: 'events24h',
  lastEventAt: 'ifnull(lastEventAt, -1)',
  createdAt: 'createdAt',
}
export const DOMAIN_SORTS = Object.keys(DOMAIN_ORDERS) as (keyof typeof DOMAIN_ORDERS)[]

/** Returns a page of the matching domains, oldest first by default, without screenshots. */
export function listDomains(
  db: Db,
  orgId: string,
  { q, projectId, sort, ...page }: DomainFilter & PageRequest & { sort?: string },
  now: Instant,
): Page<DomainRecord> {
  return readPage(db, page, {
    sort,
    orders: DOMAIN_ORDERS,
    sql: `${SELECT_DOMAIN}, NULL AS screenshotBase64 FROM domain
      WHERE orgId = @orgId AND (@projectId IS NULL OR projectId = @projectId)
        AND (@q IS NULL OR id = @q OR name LIKE @pattern ESCAPE '\\')`,
    values: { orgId, ...since(now), projectId: projectId ?? null, q: q || null, pattern: likePattern(q ?? '') },
    sortBy: 'id',
    itemOf: recordOf,
  })
}

/**
 * Returns the trimmed name for a new or existing domain or project. Throws `invalid` when the name is blank, and
 * `conflict` when another domain or project in the organization has the same name.
 */
export function freeName(db: Db, table: 'domain' | 'project', { orgId, id }: OrgRowKey, name: string): string {
  const trimmed = name.trim()
  if (!trimmed) throw new AppError('invalid', 'name: must not be blank')
  const taken = db
    .prepare(`SELECT 1 FROM ${table} WHERE orgId = ? AND name = ? COLLATE NOCASE AND id <> ?`)
    .get(orgId, trimmed, id)
  if (taken) throw new AppError('conflict', `name: another ${table} in this organization has this name`)
  return trimmed
}

/** Returns the column values for an input, with defaults. Throws `invalid` when a pattern would match everything. */
function columnsOf(input: DomainInput) {
  for (const [index, { urlPatternMatches = [] }] of (input.vendors ?? []).entries()) {
    const blank = urlPatternMatches.findIndex(isBlankPattern)
    if (blank < 0) continue
    throw new AppError('invalid', `vendors[${index}].urlPatternMatches[${blank}]: would match every URL`)
  }
  return {
    system: input.system ?? 'global',
    monitoredUrls: JSON.stringify(input.monitoredUrls ?? []),
    vendors: JSON.stringify(input.vendors ?? []),
    allowManualMonitoring: input.allowManualMonitoring ? 1 : 0,
    screenshotBase64: input.screenshotBase64 ?? null,
  }
}

/**
 * Recreates a domain of which only the id is known, with a new token. Returns false and changes nothing when the domain
 * exists or its organization does not exist.
 */
export function recoverDomain(
  db: Db,
  { id, orgId, name, createdAt }: { id: string; orgId: string; name: string | null; createdAt: Instant },
): boolean {
  const taken = db.prepare('SELECT 1 FROM domain WHERE orgId = ? AND name = ? COLLATE NOCASE')
  const own = name === null || taken.get(orgId, name) ? `Recovered domain ${id}` : name
  const { changes } = db
    .prepare(
      `INSERT INTO domain (id, orgId, name, system, token, monitoredUrls, vendors, allowManualMonitoring, createdAt)
       SELECT @id, @orgId, @name, 'global', @token, '[]', '[]', 0, @createdAt
       WHERE EXISTS (SELECT 1 FROM org WHERE id = @orgId) AND NOT EXISTS (SELECT 1 FROM domain WHERE id = @id)`,
    )
    .run({ id, orgId, name: own, token: newSecret('pt'), createdAt })
  return changes > 0
}

/** Creates a domain with a property token and returns its id. Throws `invalid` and `conflict` like `renameDomain`. */
export function createDomain(db: Db, clock: Clock, orgId: string, input: DomainInput): string {
  const createdAt = clock.now()
  const id = newId('dom', createdAt)
  tx(db, () => {
    db.prepare(
      `INSERT INTO domain (id, orgId, name, system, token, monitoredUrls, vendors, allowManualMonitoring,
         screenshotBase64, createdAt)
       VALUES (@id, @orgId, @name, @system, @token, @monitoredUrls, @vendors, @allowManualMonitoring,
         @screenshotBase64, @createdAt)`,
    ).run({
      ...columnsOf(input),
      id,
      orgId,
      name: freeName(db, 'domain', { orgId, id }, input.name),
      token: newSecret('pt'),
      createdAt,
    })
  })
  return id
}

/**
 * Replaces all settings. Fields omitted from the input are set to their defaults. Throws the same errors as
 * `renameDomain`.
 */
export function updateDomain(db: Db, domain: OrgRowKey, input: DomainInput): void {
  tx(db, () => {
    renameDomain(db, domain, input.name)
    db.prepare(
      `UPDATE domain SET system = @system, monitoredUrls = @monitoredUrls, vendors = @vendors,
         allowManualMonitoring = @allowManualMonitoring, screenshotBase64 = @screenshotBase64 WHERE id = @id`,
    ).run({ ...columnsOf(input), id: domain.id })
  })
}

/**
 * Renames a domain. Throws `notFound`, `invalid` when the name is blank, and `conflict` when another domain in the
 * organization has the same name, ignoring case.
 */
export function renameDomain(db: Db, domain: OrgRowKey, name: string): void {
  tx(db, () => {
    requireDomain(db, domain)
    db.prepare('UPDATE domain SET name = ? WHERE id = ?').run(freeName(db, 'domain', domain, name), domain.id)
  })
}

/**
 * Creates a new property token. The current token works for another 24 hours. A token that was replaced earlier stops
 * working immediately. Throws `notFound`.
 */
export function rotateToken(db: Db, clock: Clock, { orgId, id }: OrgRowKey) {
  const token = newSecret('pt')
  const previousTokenUntil = clock.now() + TOKEN_GRACE_MS
  const { changes } = db
    .prepare(
      `UPDATE domain SET previousToken = token, token = @token, previousTokenUntil = @previousTokenUntil
       WHERE orgId = @orgId AND id = @id`,
    )
    .run({ orgId, id, token, previousTokenUntil })
  if (changes === 0) throw new AppError('notFound', NO_SUCH_DOMAIN)
  return { token, previousTokenUntil }
}

/**
 * Deletes the domain, its hostnames and its ledger. Its usage is retained for the organization's totals, and its events
 * are retained until their retention period ends. Throws `notFound`.
 */
export function deleteDomain(db: Db, domain: OrgRowKey): void {
  tx(db, () => {
    deleteOrgRow(db, 'DELETE FROM domain', domain, NO_SUCH_DOMAIN)
    db.prepare('DELETE FROM hostnameUsage WHERE domainId = ?').run(domain.id)
    db.prepare('DELETE FROM rejection WHERE domainId = ?').run(domain.id)
  })
}

/** Returns a page of hostnames, sorted by name. Throws `notFound` when the organization has no such domain. */
export function listHostnames(db: Db, domain: OrgRowKey, page: PageRequest, now: Instant): Page<Hostname> {
  requireDomain(db, domain)
  return readPage(db, page, {
    sql: `SELECT hostname, status, firstSeenAt, lastSeenAt,
        (SELECT ifnull(sum(events), 0) FROM hostnameUsage AS used
         WHERE used.domainId = hostname.domainId AND used.hostname = hostname.hostname AND hour > @since) AS events24h
      FROM hostname WHERE domainId = @id`,
    values: { id: domain.id, since: now - DAY_MS },
    sortBy: 'hostname',
    itemOf: (row: Hostname) => row,
  })
}

/**
 * Sets the status of a normalized hostname, even if no event has come from it. Returns false when the hostname already
 * had this status. An unknown hostname counts as `unreviewed`. Throws `notFound` when there is no such domain.
 */
export function setHostnameStatus(db: Db, domain: OrgRowKey, hostname: string, status: HostnameStatus): boolean {
  return tx(db, () => {
    requireDomain(db, domain)
    const present = db
      .prepare<[string, string], { status: HostnameStatus }>(
        'SELECT status FROM hostname WHERE domainId = ? AND hostname = ?',
      )
      .get(domain.id, hostname)
    db.prepare(
      `INSERT INTO hostname (domainId, hostname, status) VALUES (@domainId, @hostname, @status)
       ON CONFLICT (domainId, hostname) DO UPDATE SET status = excluded.status`,
    ).run({ domainId: domain.id, hostname, status })
    return (present?.status ?? 'unreviewed') !== status
  })
}
