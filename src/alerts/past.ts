import type { PhoneRegions } from '../conditions/phone.ts'
import { Binder, type Query, type Warehouse } from '../warehouse/query.ts'
import { type Alert, domainsOf } from './alert.ts'
import type { Finding, Window } from './finding.ts'
import type { AlertType, WatchedDomain } from './types/alert-type.ts'
import { alertTypeOf } from './types/index.ts'
import { spanOf } from './window-index.ts'

/** More events in scope than this are thinned, so that an answer comes in seconds. */
const MAX_SCANNED = 20_000_000

export interface PastParts {
  warehouse: Pick<Warehouse, 'query'>
  /** All of the organization's. */
  domains: readonly WatchedDomain[]
  regions: PhoneRegions
}

/** What an alert would have found in windows of the past. */
export interface PastFindings {
  /** Of each window, in their order. */
  findings: Finding[][]
  /** `rollup`: from counts by minute; `sql`: from every event in scope; `sampled`: from some of them. */
  method: 'rollup' | 'sql' | 'sampled'
  /** Events looked at and events in scope; null unless they were thinned. */
  coverage: { sampled: number; total: number } | null
  /** False when not all there is was looked at. */
  exact: boolean
}

/**
 * Judges touching windows of the past with the code that judges those of the present. Alert types that can be asked for
 * many windows at once are, the others one after the other. Fails with `unavailable` as the warehouse does.
 */
export async function findInPast(alert: Alert, windows: readonly Window[], parts: PastParts): Promise<PastFindings> {
  const { warehouse, domains, regions } = parts
  const type = alertTypeOf(alert.alertType)
  if (windows.length === 0 || !type.past) return oneByOne(type, alert, windows, parts)
  const { method } = type.past(alert, windows, { regions, oneIn: 1 })
  const total = method === 'sql' ? await eventsInScope(alert, spanOf(windows), warehouse) : 0
  const oneIn = Math.max(1, Math.ceil(total / MAX_SCANNED))
  const past = type.past(alert, windows, { regions, oneIn })
  const answer = await warehouse.query<never>(past.query)
  const findings = past
    .rowsOf(answer)
    .map((rows, index) => type.judge(alert, rows, windows[index] ?? missing(), domains))
  const coverage = oneIn > 1 ? { sampled: Math.round(total / oneIn), total } : null
  return { findings, method: coverage ? 'sampled' : method, coverage, exact: coverage === null && past.isWhole(answer) }
}

async function oneByOne(
  type: AlertType,
  alert: Alert,
  windows: readonly Window[],
  { warehouse, domains }: PastParts,
): Promise<PastFindings> {
  const findings: Finding[][] = []
  for (const window of windows) {
    const rows = await warehouse.query<unknown>(type.measure([alert], window, domains))
    findings.push(type.judge(alert, rows, window, domains))
  }
  return { findings, method: 'sql', coverage: null, exact: true }
}

const missing = (): never => {
  throw new Error('there are rows of more windows than were asked for')
}

/** Events of the alert's domains, vendors and event, whatever its filters say. */
export async function eventsInScope(
  alert: Alert,
  window: Query['window'],
  warehouse: Pick<Warehouse, 'query'>,
): Promise<number> {
  const binder = new Binder()
  const tests = [
    'true',
    ...binder.among('domainId', domainsOf(alert)),
    ...binder.among('vendor', alert.vendors ?? []),
    ...binder.among('event', alert.volume?.event ? [alert.volume.event] : []),
  ]
  const [row] = await warehouse.query<{ total: number | null }>({
    sql: `SELECT sum(events) AS total FROM counts WHERE ${tests.join(' AND ')}`,
    over: 'counts',
    params: binder.params,
    keys: [],
    orgId: alert.orgId,
    window,
  })
  return row?.total ?? 0
}
