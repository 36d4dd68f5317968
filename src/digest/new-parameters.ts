import { textTests } from '../conditions/condition-sql.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { DigestPeriod } from './digest-schedule.ts'

/** A parameter that occurs in the last 24 hours but not in the 7 days before them. */
export interface NewParameter {
  domainId: string
  vendor: string
  event: string
  key: string
  /** Sum of weights of the events with the parameter. */
  events: number
}

/** Maximum number of new names. If there are more, none are reported, because parameter names are external input. */
const MAX_KEYS = 40
/** Margin at the boundaries of a time range, because names are stored per file, which covers up to an hour. */
const EDGE_MS = 2 * HOUR_MS

/** Returns the parameters from the last 24 hours that are new to the organization, most events first. */
export async function newParameters(
  history: History,
  orgId: string,
  { window, days }: DigestPeriod,
): Promise<NewParameter[]> {
  const namesIn = async (span: Query['window']) =>
    (await history.query<{ name: string }>(parameterNamesQuery(orgId, span))).map(({ name }) => name)
  const [now, before] = await Promise.all([namesIn(window), namesIn({ from: days.from, to: days.to - EDGE_MS })])
  // Without earlier events, every name would be new.
  if (before.length === 0) return []
  const seen = new Set(before)
  const keys = [...new Set(now)].filter((name) => name !== '' && !seen.has(name)).sort()
  if (keys.length === 0 || keys.length > MAX_KEYS) return []
  const around = { from: window.from - EDGE_MS, to: window.to }
  const rows = await history.query<NameRow>(parameterUseQuery(orgId, keys, around, window.from))
  return keys.flatMap((key, at) => usesOf(rows, key, at)).toSorted((a, b) => b.events - a.events)
}

type NameRow = { domainId: string; vendor: string; event: string } & Record<`now${number}` | `before${number}`, number>

function usesOf(rows: readonly NameRow[], key: string, at: number): NewParameter[] {
  if (rows.some((row) => (row[`before${at}`] ?? 0) > 0)) return []
  return rows.flatMap(({ domainId, vendor, event, ...sums }) => {
    const events = (sums as Record<string, number>)[`now${at}`] ?? 0
    return events > 0 ? [{ domainId, vendor, event, key, events }] : []
  })
}

/** Returns the query for the parameter names in a time range. */
export function parameterNamesQuery(orgId: string, window: Query['window']): Query {
  return query('digest.parameter-names', {
    over: 'names' as const,
    orgId,
    window,
    write: () => ({ sql: 'SELECT name FROM names' }),
  })
}

/**
 * Returns a query for the total weight of events with each key, by event name. Columns named `now…` cover the time
 * since `from`, and columns named `before…` the time before `from`.
 */
export function parameterUseQuery(
  orgId: string,
  keys: readonly string[],
  window: Query['window'],
  from: Instant,
): Query {
  return query('digest.parameter-use', {
    orgId,
    window,
    write(binder) {
      const { isBlank } = textTests(binder)
      const since = binder.bind(from)
      const columns = keys.flatMap((key, at) => {
        const value = binder.dialect.key(key)
        const sum = (test: string) =>
          `sum(CASE WHEN ${value} IS NOT NULL AND NOT ${isBlank(value)} AND ${test} THEN weight ELSE 0 END)`
        return [`${sum(`receivedAt >= ${since}`)} AS now${at}`, `${sum(`receivedAt < ${since}`)} AS before${at}`]
      })
      return {
        keys,
        sql: `SELECT domainId, vendor, event, ${columns.join(', ')} FROM events WHERE kind <> 'library'
          GROUP BY domainId, vendor, event`,
      }
    },
  })
}
