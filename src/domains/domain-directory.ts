import type { Clock, Instant } from '../core/clock.ts'
import type { Environment } from '../core/event.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import { type Db, prepared } from '../store/database.ts'
import { type CaptureRow, type CaptureSettings, captureOf } from './capture-settings.ts'
import { type DomainVendorConfig, normalizeHostname } from './domain.ts'
import { type NameVendor, vendorsByPattern } from './vendor-pattern.ts'

/** The data about a domain that the collector needs. */
export interface CollectorDomain {
  id: string
  orgId: string
  /** The salt with which the organization's customer ids are hashed. */
  customerSalt: string
  vendors: readonly DomainVendorConfig[]
  /** Returns the vendor of a request according to the patterns of the domain. */
  nameVendor: NameVendor
  /** Fraction of sessions whose page views are stored, greater than 0 and at most 1. */
  pageViewRate: Readonly<Record<Environment, number>>
  /** The settings of the domain's browser script. */
  capture: Readonly<CaptureSettings>
}

/** A domain that imported events may belong to. */
export interface ImportDomain {
  id: string
  orgId: string
  /** The salt with which the organization's customer ids are hashed. */
  customerSalt: string
  /** Hostnames whose events are not imported. */
  denied: ReadonlySet<string>
}

/** Returns all domains of all organizations, by id. */
export function importDomains(db: Db): Map<string, ImportDomain> {
  const denied = readDenied(db)
  const rows = db
    .prepare<[], Omit<ImportDomain, 'denied'>>(
      'SELECT domain.id, orgId, customerSalt FROM domain JOIN org ON org.id = domain.orgId',
    )
    .all()
  return new Map(rows.map((row) => [row.id, { ...row, denied: denied.get(row.id) ?? new Set() }]))
}

/** An in-memory cache of all domains. The collector reads it on every request without a database query. */
export interface DomainDirectory {
  /** Returns the domain of a property token; null when the token is unknown or was replaced more than 24 hours ago. */
  byToken(token: string): CollectorDomain | null
  /** True when events from this host must be dropped. The host must be normalized with `normalizeHostname`. */
  isDenied(domainId: string, hostname: string): boolean
  /**
   * Reloads the cache if another connection has changed the database. Otherwise, the call takes microseconds. Must be
   * called once a second.
   */
  refresh(): void
  /** Invalidates the cache. Must be called after a change through the directory's own connection. */
  invalidate(): void
}

interface Entry {
  domain: CollectorDomain
  /** Time at which the token stops working; null for the current token. */
  until: Instant | null
}

interface View {
  entries: Map<string, Entry>
  denied: Map<string, Set<string>>
}

interface TokenRow extends CaptureRow {
  id: string
  orgId: string
  customerSalt: string
  vendors: string
  token: string
  previousToken: string | null
  previousTokenUntil: Instant | null
  devRate: number
  prodRate: number
}

/** True when any organization other than the internal one has a domain. */
export function hasDomains(db: Db): boolean {
  const find = prepared<[string], object>(db, 'SELECT 1 FROM domain WHERE orgId <> ? LIMIT 1')
  return find.get(INTERNAL_ORG_ID) !== undefined
}

function readEntries(db: Db): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  const rows = db
    .prepare<[], TokenRow>(
      `SELECT domain.id, orgId, customerSalt, vendors, token, previousToken, previousTokenUntil,
         devRate, prodRate, captureEnabled, captureProdRate, captureDevRate, sessionMode
       FROM domain JOIN org ON org.id = domain.orgId`,
    )
    .iterate()
  for (const { token, previousToken, previousTokenUntil, ...row } of rows) {
    const domain = domainOf(row)
    entries.set(token, { domain, until: null })
    if (previousToken !== null) entries.set(previousToken, { domain, until: previousTokenUntil })
  }
  return entries
}

function domainOf(row: Omit<TokenRow, 'token' | 'previousToken' | 'previousTokenUntil'>): CollectorDomain {
  const { id, orgId, customerSalt, vendors, devRate, prodRate } = row
  const configured = JSON.parse(vendors) as DomainVendorConfig[]
  return {
    id,
    orgId,
    customerSalt,
    vendors: configured,
    nameVendor: vendorsByPattern(configured),
    pageViewRate: { dev: devRate, prod: prodRate },
    capture: captureOf(row),
  }
}

function readDenied(db: Db): Map<string, Set<string>> {
  const denied = new Map<string, Set<string>>()
  const rows = db
    .prepare<[], { domainId: string; hostname: string }>(
      `SELECT domainId, hostname FROM hostname WHERE status = 'denied'`,
    )
    .iterate()
  for (const { domainId, hostname } of rows) {
    const names = denied.get(domainId) ?? new Set()
    denied.set(domainId, names.add(hostname))
  }
  return denied
}

export function domainDirectory({ db, clock }: { db: Db; clock: Clock }): DomainDirectory {
  // The value changes when another connection commits, but not when this connection does:
  // https://sqlite.org/pragma.html#pragma_data_version
  const dataVersion = db.prepare('PRAGMA data_version').pluck()
  let seenVersion: unknown
  let view: View | null = null

  const read = (): View => {
    // Set before reading, so that a commit in between causes an additional reload instead of being missed.
    seenVersion = dataVersion.get()
    view = { entries: readEntries(db), denied: readDenied(db) }
    return view
  }
  const current = () => view ?? read()

  return {
    byToken(token) {
      const entry = current().entries.get(token)
      if (!entry) return null
      return entry.until === null || entry.until > clock.now() ? entry.domain : null
    },
    isDenied(domainId, hostname) {
      const names = current().denied.get(domainId)
      if (!names) return false
      if (names.has(hostname)) return true
      const normal = normalizeHostname(hostname)
      return normal !== null && names.has(normal)
    },
    refresh() {
      if (!view || dataVersion.get() !== seenVersion) read()
    },
    invalidate() {
      view = null
    },
  }
}
