import type { Clock, Instant } from '../core/clock.ts'
import type { Environment } from '../core/event.ts'
import { type Db, prepared } from '../store/database.ts'
import { type CaptureRow, type CaptureSettings, captureOf } from './capture-settings.ts'
import { type DomainVendorConfig, normalizeHostname } from './domain.ts'
import { type NameVendor, vendorsByPattern } from './vendor-pattern.ts'

/** A domain as the collector needs it. */
export interface CollectorDomain {
  id: string
  orgId: string
  /** The organization's salt for the hash of customer ids. */
  customerSalt: string
  vendors: readonly DomainVendorConfig[]
  /** Names the vendor of a request by the domain's own patterns. */
  nameVendor: NameVendor
  /** Shares of sessions, above 0 to 1, whose page views are kept. */
  pageViewRate: Readonly<Record<Environment, number>>
  /** The settings of its browser script. */
  capture: Readonly<CaptureSettings>
}

/** A domain to which imported events may belong. */
export interface ImportDomain {
  id: string
  orgId: string
  /** Its organization's salt for the hash of customer ids. */
  customerSalt: string
  /** Hostnames from which nothing is taken. */
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

/** A cache of all domains in memory, which the collector reads for every request without a database query. */
export interface DomainDirectory {
  /** Returns the domain of a property token; null when the token is unknown, or was replaced more than 24 hours ago. */
  byToken(token: string): CollectorDomain | null
  /** True when events from this host are to be dropped. Hosts are normalized by `normalizeHostname` first. */
  isDenied(domainId: string, hostname: string): boolean
  /** Reloads the cache if another connection changed the database. Costs microseconds if not: call it once a second. */
  refresh(): void
  /** Invalidates the cache. Must be called after a change through this directory's own connection. */
  invalidate(): void
}

interface Entry {
  domain: CollectorDomain
  /** When the token stops working; null for the current one. */
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

/** Returns whether any organization has a domain. */
export function hasDomains(db: Db): boolean {
  return prepared<[], object>(db, 'SELECT 1 FROM domain LIMIT 1').get() !== undefined
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
  // https://sqlite.org/pragma.html#pragma_data_version: changes when another connection commits, never by this one.
  const dataVersion = db.prepare('PRAGMA data_version').pluck()
  let seenVersion: unknown
  let view: View | null = null

  const read = (): View => {
    // Set before reading: a commit in between then causes one more reload instead of being missed.
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
