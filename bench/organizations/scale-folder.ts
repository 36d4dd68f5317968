import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AlertInput } from '../../src/alerts/alert.ts'
import { createAlert } from '../../src/alerts/alert-store.ts'
import { createAutoAlert } from '../../src/alerts/auto-alert.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, systemClock } from '../../src/core/clock.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../src/domains/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { createOrg, createOwner } from '../../src/org/store.ts'
import { tx } from '../../src/store/database.ts'
import { quoteText } from '../../src/warehouse/duckdb/duckdb-dialect.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import { Manifest } from '../../src/warehouse/duckdb/manifest.ts'

/** Size of an installation. */
export interface Size {
  domains: number
  /** Number of one-minute alerts, of all types. Each domain also has its automatic alert. */
  alerts: number
}

interface BenchOrg {
  id: string
  /** An owner's API key. */
  key: string
  domains: { id: string; token: string }[]
}

/** A data folder for an installation of a given size, with two signals per domain. `remove` deletes the folder. */
export interface ScaleFolder {
  folder: string
  orgs: BenchOrg[]
  remove(): void
}

const ORGS = 4
/** Length of the signals' history, which is long enough to learn from. */
const HISTORY_MS = 21 * DAY_MS
/** The signals of each domain, with the number of events per hour. */
export const SIGNALS = [
  { vendor: 'Google Analytics 4', event: 'page_view', perHour: 60 },
  { vendor: 'Meta Pixel', event: 'PageView', perHour: 30 },
] as const

const channels: AlertInput['channels'] = [{ type: 'email', target: 'ops@example.com' }]

/**
 * Returns an alert. Out of ten alerts, seven validate events and three count them. One alert in a hundred is a journey
 * alert. Few alerts fire.
 */
export function oneMinuteAlert(n: number, domainId: string): AlertInput {
  const shared = { name: `Alert ${n}`, domainId, period: '1m', channels } as const
  const vendors = [n % 2 === 0 ? SIGNALS[0].vendor : SIGNALS[1].vendor]
  if (n % 100 === 99) {
    const anchor = { kind: 'page' as const, path: '/thanks' }
    const steps = [{ anchor, expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }]
    return { ...shared, alertType: 'journey', journey: { version: 2, steps } }
  }
  if (n % 10 < 6 || n % 10 === 9) {
    const items = [{ parameter: 'value', op: 'equals' as const, values: [`never ${n}`] }]
    return { ...shared, alertType: 'data_validation', vendors, conditions: { logic: 'any', items } }
  }
  if (n % 10 < 8) return { ...shared, alertType: 'volume_threshold', vendors, volume: { op: 'gte', count: 1000 + n } }
  return { ...shared, alertType: 'tag_volume_change', vendors, volume: { direction: 'increase', percent: 900 } }
}

export async function makeScaleFolder(size: Size): Promise<ScaleFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-scale-'))
  const { db, box } = openStores(folder)
  const clock = systemClock
  const orgs = Array.from({ length: ORGS }, (_, n): BenchOrg => {
    const { id } = createOrg(db, box, clock, { name: `Org ${n}` })
    const { id: userId } = createOwner(db, clock, { orgId: id, email: `owner${n}@example.com` })
    return {
      id,
      key: createKey(db, clock, { userId, orgId: id, name: 'bench', expiresInDays: null }).secret,
      domains: [],
    }
  })
  tx(db, () => {
    for (let n = 0; n < size.domains; n++) {
      const org = orgs[n % ORGS]
      if (!org) continue
      const name = `Shop ${n}`
      const id = createDomain(db, clock, org.id, { name })
      org.domains.push({ id, token: findDomain(db, { orgId: org.id, id }, clock.now()).token })
      createAutoAlert(db, clock, { id, orgId: org.id, name })
    }
    for (let n = 0; n < size.alerts; n++) {
      const org = orgs[n % ORGS]
      const domain = org?.domains[Math.floor(n / ORGS) % org.domains.length]
      if (org && domain) createAlert(db, clock, org.id, oneMinuteAlert(n, domain.id))
    }
  })
  const events = join(folder, 'events')
  mkdirSync(events, { recursive: true })
  const manifest = new Manifest(db)
  const warehouse = await DuckdbWarehouse.open({
    folder: events,
    manifest,
    clock,
    spoolFiles: () => [],
    memoryLimit: '2GB',
  })
  for (const org of orgs) await addHistory(warehouse, manifest, org, clock.now())
  warehouse.close()
  db.close()
  return { folder, orgs, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Adds the files with daily counts that exist for past days. */
async function addHistory(
  warehouse: DuckdbWarehouse,
  manifest: Manifest,
  { id, domains }: BenchOrg,
  now: Instant,
): Promise<void> {
  const end = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const names = SIGNALS.map(({ vendor, event, perHour }) => `(${quoteText(vendor)}, ${quoteText(event)}, ${perHour})`)
  const ids = domains.map((domain) => `(${quoteText(domain.id)})`)
  for (let from = Math.floor((end - HISTORY_MS) / DAY_MS) * DAY_MS; from < end; from += DAY_MS) {
    const path = `counts/d-${id}-${from}.parquet`
    const steps = (Math.min(end, from + DAY_MS) - from) / (HOUR_MS / 4)
    const rows = await warehouse.parquet.write(
      path,
      `SELECT ${quoteText(id)} AS orgId, domainId, vendor, event, 'prod' AS env, minute,
         (perHour / 4 + hash(domainId, minute) % 5)::BIGINT AS events,
         (perHour / 4 + hash(domainId, minute) % 5)::DOUBLE AS weight, 1::BIGINT AS sessions
       FROM (SELECT (${from} + step * ${HOUR_MS / 4})::BIGINT AS minute FROM range(${Math.ceil(steps)}) t(step)),
         (VALUES ${ids.join(', ')}) d(domainId), (VALUES ${names.join(', ')}) n(vendor, event, perHour)
       ORDER BY domainId, vendor, event, minute`,
    )
    manifest.swapRollups([], [await warehouse.parquet.describeRollup(path, rows, 'day')])
  }
}
