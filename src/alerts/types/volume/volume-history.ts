import type { Alert } from '../../alert.ts'
import { type PeriodWindow, parsePeriod } from '../../alert-period.ts'
import { type Bucketed, bucketMsOf, groupByWindow, spanOf } from '../../alert-windows.ts'
import type { Window } from '../../finding.ts'
import type { HistoryOptions, HistoryQuery } from '../history-query.ts'
import { bucketsQuery, type VolumeRow, volumeSource } from './volume-count.ts'

/**
 * Returns the query that counts each window. `before`: the window before the first one, for types that compare each
 * window with the previous one.
 */
export function volumeHistoryQuery(
  alert: Alert,
  windows: readonly Window[],
  { oneIn }: HistoryOptions,
  before: PeriodWindow | null,
): HistoryQuery<VolumeRow> {
  const all = before ? [{ from: before.start, to: before.end, complete: true }, ...windows] : windows
  return {
    method: volumeSource(alert) === 'counts' ? 'rollup' : 'sql',
    query: bucketsQuery(alert, spanOf(all), bucketMsOf(parsePeriod(alert.period)), oneIn),
    rowsOf(answer: readonly (VolumeRow & Bucketed)[]) {
      const groups = groupByWindow(answer, all)
      return windows.map((_, index) =>
        before ? sumUp(alert, groups[index + 1] ?? [], groups[index] ?? []) : sumUp(alert, groups[index] ?? [], []),
      )
    },
    isComplete: () => true,
  }
}

/** Returns one row per domain and name, like a query for only this window. */
function sumUp(alert: Alert, rows: readonly VolumeRow[], rowsBefore: readonly VolumeRow[]): VolumeRow[] {
  const sums = new Map<string, VolumeRow>()
  const add = (row: VolumeRow, column: 'count' | 'before') => {
    const { domainId, vendor = null, event = null } = row
    const key = JSON.stringify([domainId, vendor, event])
    const sum = sums.get(key) ?? { domainId, vendor, event, count: 0, before: 0 }
    const filtered = column === 'count' ? alert.id : `before ${alert.id}`
    sum[column] = (sum[column] ?? 0) + (row.count ?? 0)
    sum[filtered] = Number(sum[filtered] ?? 0) + Number(row[alert.id] ?? 0)
    sums.set(key, sum)
  }
  for (const row of rows) add(row, 'count')
  for (const row of rowsBefore) add(row, 'before')
  return [...sums.values()]
}
