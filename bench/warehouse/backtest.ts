import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Alert } from '../../src/alerts/alert.ts'
import { readAlertInput } from '../../src/alerts/alert-input.ts'
import { alertFrom } from '../../src/alerts/alert-store.ts'
import { type AlertBacktest, backtest } from '../../src/alerts/backtest.ts'
import type { HistoryDeps } from '../../src/alerts/judge-past-events.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { openDatabase } from '../../src/store/database.ts'
import { DuckdbWarehouse } from '../../src/warehouse/duckdb/duckdb-warehouse.ts'
import { Manifest } from '../../src/warehouse/duckdb/manifest.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { medianMs } from '../tools/percentiles.ts'
import { badPurchases, fillMonth, MONTH_END, MONTH_EVENTS } from './generated-month.ts'

const DAYS = sized(30, 1)
const RUNS = sized(3, 1)
const ORG = 'org_01k9m2c4d0e0f0g0h0j0k0m0n0'
const DOMAINS = Array.from({ length: 20 }, (_, n) => `dom_01k9m2c4d0e0f0g0h0j0k0m0${n}`)
/**
 * Number of domains without purchases. One session in five buys, and session n belongs to domain n modulo the number of
 * domains, so all purchases are in a fifth of the domains.
 */
const WITHOUT_PURCHASE = DOMAINS.length - DOMAINS.length / 5

const any = (...items: object[]) => ({ logic: 'any', items })
const page = (path: string) => ({ kind: 'page', path })
/** Additional sensitivities of the anomaly backtest. All are calculated in one pass. */
const SENSITIVITIES = [2, 3, 5, 6]
/** The backtested rules. Those with a limit are first. */
const RULES: Record<string, object> = {
  volume: { alertType: 'volume_threshold', volume: { op: 'lte', count: 3, event: 'purchase' } },
  validation: {
    alertType: 'data_validation',
    filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
    conditions: any({ parameter: 'transaction_id', op: 'is_blank' }),
  },
  journey: {
    alertType: 'journey',
    journey: {
      version: 2,
      steps: [{ anchor: page('/thanks'), expect: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }],
    },
  },
  anomaly: { alertType: 'volume_anomaly', volume: { vendor: 'Google Analytics 4', event: 'purchase' } },
  'anomaly of every signal': { alertType: 'volume_anomaly', volume: { vendor: '*' } },
  'volume in 15-minute windows': { alertType: 'volume_threshold', period: '15m', volume: { op: 'lte', count: 0 } },
  'volume with a filter': {
    alertType: 'volume_threshold',
    volume: { op: 'lte', count: 0 },
    filters: [{ parameter: 'value', op: 'gt', values: ['500'] }],
  },
  'volume change': { alertType: 'tag_volume_change', volume: { direction: 'decrease', percent: 40 } },
  'validation of every event': {
    alertType: 'data_validation',
    conditions: any(
      { parameter: 'client_id', op: 'regex', values: ['^0'] },
      { parameter: 'value', op: 'gt', values: ['995'] },
    ),
  },
  'validation of every parameter': {
    alertType: 'data_validation',
    conditions: any({ parameter: '*', op: 'contains_email' }),
  },
  'journey of every session': {
    alertType: 'journey',
    journey: {
      version: 2,
      steps: [
        { anchor: { kind: 'session' }, expect: [{ vendor: 'Google Analytics 4', event: 'page_view' }] },
        { anchor: page('/cart'), expect: [{ vendor: 'Meta Pixel', event: 'AddToCart' }] },
      ],
    },
  },
}

function alertOf(rule: object): Alert {
  const input = { name: 'Rule', period: '1h', channels: [{ type: 'email', target: 'ops@example.com' }], ...rule }
  return alertFrom(readAlertInput(input), { id: 'alr_trial', orgId: ORG, createdAt: 0, updatedAt: 0 })
}

interface Timed {
  ms: number
  matched: number
  exact: boolean
}

async function timed(name: string, rule: object, parts: HistoryDeps): Promise<Timed> {
  const alert = alertOf(rule)
  const others = alert.alertType === 'volume_anomaly' ? SENSITIVITIES : undefined
  let answer = {} as Partial<AlertBacktest>
  const work = async () => {
    answer = await backtest(alert, DAYS, MONTH_END, parts, others)
  }
  const ms = await medianMs(name, work, RUNS)
  const { buckets = [], exact = false } = answer
  const matched = buckets.reduce((sum, { matchCount }) => sum + matchCount, 0)
  return { ms, matched, exact }
}

/** Measures backtests of all types of rules over a month with ten million events. The rules are evaluated hourly. */
export async function benchBacktest(): Promise<Budget[]> {
  const root = mkdtempSync(join(tmpdir(), 'tagwarden-bench-'))
  const folder = join(root, 'events')
  mkdirSync(folder)
  const db = openDatabase(join(root, 'tagwarden.db'))
  const manifest = new Manifest(db)
  const clock = { now: () => MONTH_END }
  const warehouse = await DuckdbWarehouse.open({ folder, manifest, clock, spoolFiles: () => [] })
  try {
    const started = performance.now()
    await fillMonth(warehouse, manifest, folder, { orgId: ORG, domainIds: DOMAINS })
    console.log(`  filled with ${MONTH_EVENTS} events in ${Math.round((performance.now() - started) / 1000)} s`)
    const domains = DOMAINS.map((id) => ({ id, createdAt: 0 }))
    const figures = new Map<string, Timed>()
    for (const [name, rule] of Object.entries(RULES)) {
      const figure = await timed(name, rule, { warehouse, domains, privacy: PLAIN_PRIVACY })
      figures.set(name, figure)
      const exact = figure.exact ? '' : ', not exact'
      console.log(`    ${figure.matched} matches${exact}`)
    }
    const of = (name: string) => figures.get(name) ?? { ms: Number.POSITIVE_INFINITY, matched: 0 }
    return [
      budget('30 days, 10 M events, hourly: volume, ms', of('volume').ms, 'at most', 1000),
      budget('30 days, 10 M events, hourly: validation, ms', of('validation').ms, 'at most', 3000),
      budget('30 days, 10 M events, hourly: journey, ms', of('journey').ms, 'at most', 5000),
      budget('30 days, 10 M events, hourly: anomaly, at five sensitivities, ms', of('anomaly').ms, 'at most', 1000),
      budget('windows found without a purchase', of('volume').matched, 'is', WITHOUT_PURCHASE * 24 * DAYS),
      budget('purchases found without an ID', of('validation').matched, 'is', badPurchases().events),
      budget('sessions found with a purchase not reported to Meta', of('journey').matched, 'is', badPurchases().ended),
    ]
  } finally {
    warehouse.close()
    db.close()
    rmSync(root, { recursive: true, force: true })
  }
}
