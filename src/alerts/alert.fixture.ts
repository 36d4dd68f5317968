import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryDb } from '../../test/fixtures.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { type EventFields, plainEvent } from '../core/event.fixture.ts'
import type { StoredEvent } from '../core/event.ts'
import { type BatchRecord, linesOf } from '../ingest/segment-file.ts'
import { DuckdbWarehouse } from '../warehouse/duckdb/duckdb-warehouse.ts'
import { Manifest } from '../warehouse/duckdb/manifest.ts'
import type { Alert, AlertInput } from './alert.ts'
import type { Finding, Window } from './finding.ts'
import { scanKeyOf, type WatchedDomain } from './types/alert-type.ts'
import { measuredTypeOf } from './types/index.ts'

/** Noon on a Wednesday. */
export const NOON: Instant = Date.UTC(2026, 3, 1, 12)

export const validationInput: AlertInput = {
  name: 'Purchase has a value',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
}

export const volumeInput: AlertInput = {
  name: 'Purchase volume',
  alertType: 'volume_threshold',
  volume: { op: 'gte', count: 3 },
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
}

/** Returns an alert that was saved long ago. */
export function alertOf(input: AlertInput, id = 'alr_1', orgId = 'org_a'): Alert {
  const createdAt = NOON - 30 * DAY_MS
  return { severity: 'low', timezone: 'UTC', enabled: true, ...input, id, orgId, createdAt, updatedAt: createdAt }
}

export const domainsNamed = (...ids: string[]): WatchedDomain[] =>
  ids.map((id) => ({ id, createdAt: NOON - 60 * DAY_MS }))

/** Returns an event on the shop domain, received shortly before noon. */
export function eventOf(values: EventFields = {}): StoredEvent {
  const { receivedAt = NOON - 1000 } = values
  const place = { orgId: 'org_a', domainId: 'dom_shop', host: 'shop.example', path: '/' }
  const seq = receivedAt * 1000
  return plainEvent({ seq, id: 'e', receivedAt, ...place, vendor: 'ga4', event: 'purchase', ...values })
}

const BATCH: BatchRecord = {
  key: null,
  orgId: 'org_a',
  domainId: 'dom_shop',
  receivedAt: NOON,
  answer: { accepted: 1, rejected: 0, errors: [] },
  ledger: [],
}

/** Returns a new warehouse with these events: the first half in Parquet, the second half still in the spool. */
export async function warehouseWith(events: readonly StoredEvent[]) {
  const root = mkdtempSync(join(tmpdir(), 'alerts-'))
  const folder = join(root, 'events')
  const db = memoryDb()
  const spool = (name: string, part: readonly StoredEvent[]) => {
    const path = join(root, name)
    writeFileSync(path, part.flatMap((event) => linesOf([event], BATCH).lines.map((line) => `${line}\n`)).join(''))
    return path
  }
  const half = Math.ceil(events.length / 2)
  const [loaded, open] = [spool('000000000001.ndjson', events.slice(0, half)), spool('open.ndjson', events.slice(half))]
  const warehouse = await DuckdbWarehouse.open({
    folder,
    manifest: new Manifest(db),
    clock: { now: () => NOON },
    spoolFiles: () => (events.length > half ? [open] : []),
  })
  if (half > 0)
    await warehouse.load(
      { name: '000000000001', path: loaded },
      () => {},
      () => {},
    )
  return {
    query: warehouse.query.bind(warehouse) as DuckdbWarehouse['query'],
    [Symbol.dispose]() {
      warehouse.close()
      db.close()
      rmSync(root, { recursive: true })
    },
  }
}

export const HOUR_BEFORE_NOON: Window = { from: NOON - 3_600_000, to: NOON, complete: true }

/** Evaluates alerts of one type and organization together, using the production code. Returns findings by alert id. */
export async function evaluate(
  warehouse: Pick<DuckdbWarehouse, 'query'>,
  alerts: readonly [Alert, ...Alert[]],
  domains: readonly WatchedDomain[],
  window = HOUR_BEFORE_NOON,
): Promise<Record<string, Finding[]>> {
  const type = measuredTypeOf(alerts[0].alertType)
  const findings = Object.fromEntries(alerts.map(({ id }): [string, Finding[]] => [id, []]))
  for (const group of Map.groupBy(alerts, (alert) => scanKeyOf(type, alert, window)).values()) {
    const rows = await warehouse.query(type.measure(group, window, domains))
    for (const alert of group) findings[alert.id] = type.judge(alert, rows, window, domains)
  }
  return findings
}
