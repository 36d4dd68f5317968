import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AlertInput } from '../../src/alerts/alert.ts'
import { activeAlerts, createAlert } from '../../src/alerts/alert-store.ts'
import { measuredTypeOf } from '../../src/alerts/types/index.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { createDomain } from '../../src/domains/store.ts'
import { type EvaluateDeps, evaluate, WokenAlerts } from '../../src/evaluation/evaluate-alerts.ts'
import { createOrg } from '../../src/org/store.ts'
import { type Db, openDatabase } from '../../src/store/database.ts'
import { compactEvents } from '../../src/warehouse/duckdb/compact-events.ts'
import { compactRollups } from '../../src/warehouse/duckdb/compact-rollups.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import { Manifest } from '../../src/warehouse/duckdb/manifest.ts'
import { query } from '../../src/warehouse/query.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { medianMs } from '../tools/percentiles.ts'

const EVENTS = sized(1_000_000, 20_000)
const SEGMENT_EVENTS = 20_000
const DOMAINS = 20
const VENDORS = ['Google Analytics 4', 'Meta Pixel', 'Matomo', 'TikTok Pixel', 'Segment']
const NAMES = ['page_view', 'purchase', 'add_to_cart', 'scroll', 'view_item', 'login', 'search']
const VALIDATIONS = sized(1000, 20)
const VOLUMES = sized(10_000, 40)
/** On a bad day, one event in this many violates a rule, and one rule in ten is violated. */
const BAD_ONE_IN = 100
const BROKEN = VALIDATIONS / 10
const RUNS = sized(31, 2)
const ROUNDS = sized(5, 1)

/** Start of the evaluated hour. */
const HOUR = Date.UTC(2026, 0, 5, 12)
const END = HOUR + HOUR_MS
const window = { from: HOUR, to: END }
const channels: AlertInput['channels'] = [{ type: 'email', target: 'ops@example.com' }]

interface EvaluationFixture {
  db: Db
  orgId: string
  domainIds: string[]
  warehouse: DuckdbWarehouse
  /** IDs of the alerts that events can violate. */
  alertIds: string[]
}

function eventLine(n: number, { orgId, domainIds, alertIds }: EvaluationFixture): string {
  const receivedAt = HOUR + Math.floor((n / EVENTS) * HOUR_MS)
  return JSON.stringify({
    receivedAt,
    orgId,
    domainId: domainIds[n % DOMAINS],
    host: 'shop.example',
    path: `/product/${n % 500}`,
    sessionId: `s${n % 50_000}`,
    seq: receivedAt * 1000 + (n % 1000),
    id: [`e${n}`],
    status: ['ok'],
    vendor: [VENDORS[n % VENDORS.length]],
    event: [NAMES[n % NAMES.length]],
    account: ['G-ABCDE12345'],
    violations: n % BAD_ONE_IN === 0 ? [[alertIds[10 * ((n / BAD_ONE_IN) % BROKEN)]]] : undefined,
    params: [{ transaction_id: `T-${n}`, currency: 'EUR', value: String(n % 997), page_title: 'Checkout', step: '2' }],
  })
}

/**
 * Fills the warehouse with the data that it contains at the end of an hour, after segments have been loaded one by one
 * and small files have been merged.
 */
async function fill(stand: EvaluationFixture, manifest: Manifest, folder: string): Promise<void> {
  const { warehouse } = stand
  const path = join(folder, '..', 'segment.ndjson')
  for (let first = 0; first < EVENTS; first += SEGMENT_EVENTS) {
    writeFileSync(path, '')
    for (let start = first; start < first + SEGMENT_EVENTS; start += 5000) {
      appendFileSync(path, Array.from({ length: 5000 }, (_, n) => `${eventLine(start + n, stand)}\n`).join(''))
    }
    const segment = { name: String(first / SEGMENT_EVENTS + 1).padStart(12, '0'), path }
    const nothing = () => undefined
    await warehouse.load(segment, nothing, nothing)
    await compactEvents({ parquet: warehouse.parquet, manifest: manifest, folder: folder }, END)
    await compactRollups(warehouse.parquet, manifest, folder, END)
  }
}

function validations({ db, orgId, domainIds }: EvaluationFixture): string[] {
  const made = Array.from({ length: VALIDATIONS }, (_, n) =>
    createAlert(db, { now: () => HOUR }, orgId, {
      name: `Rule ${n}`,
      alertType: 'data_validation',
      domainIds: domainIds.slice(n % DOMAINS, (n % DOMAINS) + 1),
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'equals', values: [String(n)] }] },
      period: '1h',
      channels,
    }),
  )
  return made.map(({ id }) => id)
}

/** Creates volume alerts: half have fixed thresholds, and half detect changes. One alert in fifty fires. */
function volumes({ db, orgId, domainIds }: EvaluationFixture): void {
  db.prepare('DELETE FROM issue').run()
  db.prepare('DELETE FROM alert').run()
  for (let n = 0; n < VOLUMES; n++) {
    const event = NAMES[n % NAMES.length]
    const count = n % 50 === 0 ? 100_000_000 : 0
    const isThreshold = n % 2 === 0
    createAlert(db, { now: () => HOUR }, orgId, {
      name: `Volume ${n}`,
      alertType: isThreshold ? 'volume_threshold' : 'tag_volume_change',
      volume: isThreshold
        ? { op: 'lte', count, ...(event && { event }) }
        : { direction: 'decrease', percent: 50, ...(event && { event }) },
      domainId: domainIds[n % DOMAINS] ?? '',
      vendors: [VENDORS[n % VENDORS.length] ?? ''],
      period: '1h',
      channels,
    })
  }
}

/** Returns the time for queries and evaluation, excluding storage of the results, in ms. */
async function measureMs({ db, warehouse, domainIds }: EvaluationFixture): Promise<number> {
  const alerts = activeAlerts(db).map(({ alert }) => alert)
  const type = measuredTypeOf('data_validation')
  const whole = { ...window, complete: true }
  const domains = domainIds.map((id) => ({ id, createdAt: 0 }))
  return medianMs(
    `${VALIDATIONS} rules`,
    async () => {
      const rows = await warehouse.query<unknown>(type.measure(alerts, whole, domains))
      for (const alert of alerts) type.judge(alert, rows, whole, domains)
    },
    RUNS,
  )
}

/**
 * Returns the median time of a full evaluation round, including storage, in ms. Every round evaluates the same window.
 */
async function roundMs(name: string, { db, warehouse }: EvaluationFixture): Promise<number> {
  const parts: EvaluateDeps = {
    db,
    warehouse,
    clock: { now: () => END },
    visible: { watermark: () => END, isVisible: () => true },
    woken: new WokenAlerts(),
    enqueue: () => undefined,
    privacyOf: () => PLAIN_PRIVACY,
    gapsOf: () => [],
  }
  return medianMs(
    name,
    async () => {
      db.prepare('UPDATE alert SET evaluatedThrough = ?, windowStartAt = ?, dueAt = 0').run(HOUR, HOUR)
      await evaluate(parts)
    },
    ROUNDS,
  )
}

/** Measures the evaluation of a thousand validation alerts and ten thousand volume alerts at the end of an hour. */
export async function benchEvaluate(): Promise<Budget[]> {
  const root = mkdtempSync(join(tmpdir(), 'tagwarden-bench-'))
  const folder = join(root, 'events')
  mkdirSync(folder)
  const db = openDatabase(join(root, 'tagwarden.db'))
  const manifest = new Manifest(db)
  const clock = { now: () => HOUR - HOUR_MS - MINUTE_MS }
  const warehouse = await DuckdbWarehouse.open({ folder, manifest, clock, spoolFiles: () => [] })
  try {
    const { id: orgId } = createOrg(db, secretBox(Buffer.alloc(32, 7)), clock, { name: 'Bench' })
    const domainIds = Array.from({ length: DOMAINS }, (_, n) => createDomain(db, clock, orgId, { name: `Shop ${n}` }))
    const stand: EvaluationFixture = { db, orgId, domainIds, warehouse, alertIds: [] }
    stand.alertIds.push(...validations(stand))
    const started = performance.now()
    await fill(stand, manifest, folder)
    console.log(`  filled with ${EVENTS} events in ${Math.round(performance.now() - started)} ms`)
    const plainCount = query('bench.events', {
      orgId,
      window,
      write: () => ({ sql: 'SELECT domainId, count(*) AS events FROM events GROUP BY domainId' }),
    })
    const plainMs = await medianMs('GROUP BY', () => warehouse.query(plainCount), RUNS)
    const ruleMs = await measureMs(stand)
    await roundMs(`${VALIDATIONS} rules, including stored samples and issues`, stand)
    const counted = db.prepare('SELECT count(*) FROM issue').pluck().get()
    volumes(stand)
    const volumeMs = await roundMs(`${VOLUMES} volume alerts`, stand)
    const fired = db.prepare('SELECT count(*) FROM issue').pluck().get()
    console.log(`  ${counted} issues from the rules, ${fired} including those from volume alerts`)
    return [
      budget('1,000 validation alerts over 1 M events / one GROUP BY', ruleMs / plainMs, 'at most', 3),
      budget('10,000 volume alerts from rollups, ms', volumeMs, 'at most', 2000),
      budget('issues from the rules', Number(counted), 'is', BROKEN),
    ]
  } finally {
    warehouse.close()
    db.close()
    rmSync(root, { recursive: true, force: true })
  }
}
