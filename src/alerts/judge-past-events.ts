import { resolveLabels } from '../conditions/label-conditions.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import { type MembersOf, noMembers } from '../labels/label.ts'
import { ALL_SIGNALS } from '../signals/series.ts'
import { SeriesMonitor, type SeriesMonitorDeps } from '../signals/series-monitor.ts'
import type { SignalSetting } from '../signals/signal.ts'
import type { SeriesPoint } from '../signals/verdict-row.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { type Alert, domainsOf } from './alert.ts'
import { spanOf } from './alert-windows.ts'
import { isInRunWindow } from './allowed-run-hours.ts'
import type { Finding, Window } from './finding.ts'
import type { MeasuredType, SeriesType, WatchedDomain } from './types/alert-type.ts'
import { scopeTests } from './types/event-scope.ts'
import { alertTypeOf, seriesOf } from './types/index.ts'
import { type GapsOf, isWindowUnreliable } from './unreliable-windows.ts'

/**
 * Maximum number of events in scope that are read in full. Above this number, events are sampled, so that a response
 * takes only seconds.
 */
const MAX_SCANNED_EVENTS = 20_000_000

export interface HistoryDeps {
  warehouse: History
  /** All domains of the organization. */
  domains: readonly WatchedDomain[]
  privacy: Privacy
  /** Returns the members of the organization's labels. When absent, labels have no members. */
  membersOf?: MembersOf
  /** Returns the collection gaps. When absent, there are no gaps. */
  gapsOf?: GapsOf
  /** Returns the signal settings. When absent, there are none. */
  settingsOf?(orgId: string): readonly SignalSetting[]
  /** As in `SeriesMonitorDeps`. */
  holidaysOf?: SeriesMonitorDeps['holidaysOf']
}

/** The findings of an alert in past windows. */
export interface HistoryFindings {
  /** One list for each window, in order. */
  findings: Finding[][]
  /** The same lists for each of the additional sensitivities. */
  alternatives: Finding[][][]
  /**
   * `rollup`: computed from counts by minute; `sql`: from every event in scope; `sampled`: from a sample of these
   * events.
   */
  method: 'rollup' | 'sql' | 'sampled'
  /** Number of events read and in scope; null when all were read. */
  coverage: { sampled: number; total: number } | null
  /** False when the result is incomplete. */
  exact: boolean
}

/**
 * Evaluates adjacent past windows with the same code as current windows. Windows with too many collection gaps are skipped.
 * `sensitivities`: additional sensitivities, for types that monitor series. Throws `AppError('unavailable')` when the
 * warehouse is unavailable.
 */
export async function judgeHistory(
  saved: Alert,
  windows: readonly Window[],
  parts: HistoryDeps,
  sensitivities: readonly number[] = [],
): Promise<HistoryFindings> {
  const { gapsOf = () => [], membersOf = noMembers } = parts
  const alert = resolveLabels(saved, membersOf)
  const type = alertTypeOf(alert.alertType)
  if (type.evaluated === 'along a series') return followHistory(type, alert, windows, parts, sensitivities)
  const found = await measureHistory(type, alert, windows, parts)
  const judged = found.findings.map((findings, index) =>
    isWindowUnreliable(type, alert, windows[index] ?? missingWindow(), gapsOf) ? [] : findings,
  )
  return { ...found, findings: judged }
}

/** Returns the findings of a type that monitors series, using a separate series monitor. */
async function followHistory(
  type: SeriesType,
  alert: Alert,
  windows: readonly Window[],
  deps: HistoryDeps,
  others: readonly number[],
): Promise<HistoryFindings> {
  const { runWindows, timezone } = alert
  const { domains } = deps
  const scopes = type.series(alert, domains)
  const own = scopes[0]?.sensitivity ?? 0
  const counts = (instant: number) => isInRunWindow(runWindows, timezone, instant)
  const rows = await seriesMonitorFor(deps).verdictsAtSensitivities(
    scopes,
    [own, ...others],
    windows,
    runWindows ? { counts } : {},
  )
  const [findings = windows.map(() => []), ...alternatives] = rows.map((ofWindows) =>
    ofWindows.map((ofWindow, index) => type.judge(alert, ofWindow, windows[index] ?? missingWindow(), domains)),
  )
  return { findings, alternatives, method: 'rollup', coverage: null, exact: true }
}

/**
 * Returns the rows of the series that the alert monitors, with expected values, from the creation of its domain. Null
 * for alerts that monitor several series or none. Throws `AppError('unavailable')` when the warehouse is unavailable.
 */
export async function chartHistory(
  alert: Alert,
  range: { from: Instant; to: Instant },
  deps: HistoryDeps,
): Promise<SeriesPoint[] | null> {
  const { domains } = deps
  const [scope, ...others] = seriesOf(alert, domains)
  if (!scope || scope.vendor === ALL_SIGNALS || others.length > 0) return null
  const { createdAt = range.from } = domains.find(({ id }) => id === scope.domainId) ?? {}
  const from = Math.min(range.to, Math.max(range.from, createdAt))
  return (await seriesMonitorFor(deps).chart(scope, { from, to: range.to }, range.to)).points
}

/** Returns a separate series monitor, which caches nothing. */
function seriesMonitorFor({ warehouse, gapsOf = () => [], settingsOf = () => [], holidaysOf }: HistoryDeps) {
  return new SeriesMonitor({ warehouse, gapsOf, settingsOf, memoryBytes: 0, ...(holidaysOf && { holidaysOf }) })
}

async function measureHistory(
  { history, judge }: MeasuredType,
  alert: Alert,
  windows: readonly Window[],
  { warehouse, domains, privacy, membersOf }: HistoryDeps,
): Promise<HistoryFindings> {
  const { regions } = privacy
  if (windows.length === 0) return { findings: [], alternatives: [], method: 'sql', coverage: null, exact: true }
  // Compiling a large rule is slow, so the query is reused unless events are sampled or windows are split.
  const whole = history.query(alert, windows, { regions, oneIn: 1 }, membersOf)
  const { method } = whole
  const total = method === 'sql' ? (await eventsInScope(alert, spanOf(windows), warehouse)).events : 0
  const oneIn = Math.max(1, Math.ceil(total / MAX_SCANNED_EVENTS))
  const findings: Finding[][] = []
  let exact = oneIn === 1
  for (const part of splitWindows(windows, history, { events: total / oneIn, domains: domains.length })) {
    const past =
      exact && part.length === windows.length ? whole : history.query(alert, part, { regions, oneIn }, membersOf)
    const answer = await warehouse.query<never>(past.query)
    for (const [index, rows] of past.rowsOf(answer).entries()) {
      findings.push(judge(alert, rows, part[index] ?? missingWindow(), domains))
    }
    exact &&= past.isComplete(answer)
  }
  const coverage = oneIn > 1 ? { sampled: Math.round(total / oneIn), total } : null
  return { findings, alternatives: [], method: coverage ? 'sampled' : method, coverage, exact }
}

/** Splits the windows into parts that do not exceed the limits of a query. */
function splitWindows(
  windows: readonly Window[],
  { limits }: MeasuredType['history'],
  { events, domains }: { events: number; domains: number },
): Window[][] {
  const parts = Math.max(
    1,
    events / limits.events,
    windows.length / limits.windows,
    (windows.length * domains) / limits.rows,
  )
  const size = Math.max(1, Math.floor(windows.length / parts))
  return Array.from({ length: Math.ceil(windows.length / size) }, (_, part) =>
    windows.slice(part * size, (part + 1) * size),
  )
}

const missingWindow = (): never => {
  throw new Error('the query returned rows for a window that was not requested')
}

/**
 * Returns the number of events with the alert's domains, event and (if restricted) vendors, ignoring its filters: the
 * number of stored events, and their weight.
 */
export async function eventsInScope(
  alert: Alert,
  window: Query['window'],
  history: History,
): Promise<{ events: number; weight: number }> {
  const inScope = query('alerts.in-scope', {
    over: 'counts',
    orgId: alert.orgId,
    window,
    write(binder) {
      const scope = { domainIds: domainsOf(alert), ...alertTypeOf(alert.alertType).scope(alert) }
      const tests = ['true', ...scopeTests(scope, binder)]
      return { sql: `SELECT sum(events) AS events, sum(weight) AS weight FROM counts WHERE ${tests.join(' AND ')}` }
    },
  })
  const [row] = await history.query<{ events: number | null; weight: number | null }>(inScope)
  return { events: row?.events ?? 0, weight: row?.weight ?? 0 }
}
