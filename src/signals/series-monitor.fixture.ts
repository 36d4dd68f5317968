import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { quoteText } from '../warehouse/duckdb/duckdb-dialect.ts'
import { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { type SeriesScope, type Span, TICK_MS } from './series.ts'
import { SeriesMonitor, type SeriesMonitorDeps } from './series-monitor.ts'
import type { VerdictRow } from './verdict-row.ts'

/** Midnight on a Monday. */
export const MONDAY: Instant = Date.UTC(2026, 0, 5)

/** A fault in a tag: its traffic is multiplied by a factor. */
interface Fault {
  from: Instant
  to: Instant
  factor: number
}

/** Traffic from a tag: random by minute, lower at night. */
export interface Traffic {
  orgId?: string
  domainId?: string
  vendor?: string
  event?: string
  from: Instant
  to: Instant
  /** Average events per hour; at most 240. */
  perHour: number
  faults?: readonly Fault[]
  /** The weight of each event from `from` on; the weight is 1 before. */
  sampled?: { from: Instant; weight: number }
}

const DRAWS = 8

/** Generates the counts in SQL, because months have many minutes. Deterministic. */
function countsSql(traffic: Traffic): string {
  const { orgId = 'org_1', domainId = 'dom_1', vendor = 'Shop', event = 'view', from, to, perHour } = traffic
  const name = [orgId, domainId, vendor, event].map(quoteText).join(', ')
  const wave = `(0.4 + 1.2 * power(sin(pi() * (minute % 86400000) / 86400000), 2))`
  const factors = (traffic.faults ?? []).map(
    (fault) => `WHEN minute >= ${fault.from} AND minute < ${fault.to} THEN ${fault.factor}`,
  )
  const factor = factors.length > 0 ? `CASE ${factors.join(' ')} ELSE 1 END` : '1'
  const chance = `${perHour / 60 / DRAWS}::DOUBLE * ${wave} * ${factor} * ${thinned(traffic)}`
  const draws = Array.from(
    { length: DRAWS },
    (_, at) => `(hash(${quoteText(`${vendor}${event}${at}`)}, minute) % 1000000 < 1000000 * ${chance})::INTEGER`,
  )
  return `SELECT ${name}, 'prod' AS env, minute, events::BIGINT AS events, events * ${weightSql(traffic)} AS weight, 1::BIGINT AS sessions
    FROM (
      SELECT minute, ${draws.join(' + ')} AS events
      FROM (SELECT (${from} + step * ${MINUTE_MS})::BIGINT AS minute FROM range(${Math.round((to - from) / MINUTE_MS)}) t(step))
    ) WHERE events > 0`
}

const thinned = ({ sampled }: Traffic) =>
  sampled ? `CASE WHEN minute >= ${sampled.from} THEN ${1 / sampled.weight} ELSE 1 END` : '1'
const weightSql = ({ sampled }: Traffic) =>
  sampled ? `CASE WHEN minute >= ${sampled.from} THEN ${sampled.weight}::DOUBLE ELSE 1.0 END` : '1.0::DOUBLE'

/** Adds the traffic to the history as a file of counts. Names must be unique. */
export async function addTraffic(
  { parquet, manifest }: WarehouseFixture,
  name: string,
  traffic: Traffic,
): Promise<void> {
  const columns = 'orgId, domainId, vendor, event, env, minute, events, weight, sessions'
  const path = `counts/${name}.parquet`
  const rows = await parquet.write(path, `SELECT * FROM (${countsSql(traffic)}) AS t(${columns})`)
  manifest.swapRollups([], [await parquet.describeRollup(path, rows, 'day')])
}

/** A history of counts in real files. */
export class CountsFixture {
  private constructor(readonly fixture: WarehouseFixture) {}

  static async with(...traffic: readonly Traffic[]): Promise<CountsFixture> {
    const fixture = await WarehouseFixture.open()
    for (const [index, one] of traffic.entries()) await addTraffic(fixture, `t${index}`, one)
    return new CountsFixture(fixture)
  }

  seriesMonitor(parts: Partial<SeriesMonitorDeps> = {}): SeriesMonitor {
    return new SeriesMonitor({ warehouse: this.fixture.warehouse, gapsOf: () => [], settingsOf: () => [], ...parts })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.fixture[Symbol.asyncDispose]()
  }
}

export const hours = (count: number) => count * HOUR_MS

/** The scope of one tag, with hourly rows. */
export const scope = (values: Partial<SeriesScope> = {}): SeriesScope => ({
  orgId: 'org_1',
  domainId: 'dom_1',
  vendor: 'Shop',
  event: 'view',
  sensitivity: 5,
  stepMs: HOUR_MS,
  timezone: 'UTC',
  ...values,
})

/** Returns the ticks between two instants as windows. */
export function ticks({ from, to }: Span): Span[] {
  const first = Math.floor(from / TICK_MS) * TICK_MS
  return Array.from({ length: Math.round((to - first) / TICK_MS) }, (_, at) => ({
    from: Math.max(from, first + at * TICK_MS),
    to: first + (at + 1) * TICK_MS,
  }))
}

/** Queries tick by tick, like the scheduler. */
export async function follow(
  seriesMonitor: SeriesMonitor,
  scopes: readonly SeriesScope[],
  span: Span,
): Promise<VerdictRow[][]> {
  const rows: VerdictRow[][] = []
  for (const window of ticks(span)) rows.push((await seriesMonitor.verdicts(scopes, [window]))[0] ?? [])
  return rows
}
