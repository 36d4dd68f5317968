import { type SidedEvents, sampleTests, UNIT } from '../changes/change-queries.ts'
import { MIN_SHARE } from '../changes/share-cases.ts'
import { textTests } from '../conditions/condition-sql.ts'
import { type Query, query } from '../warehouse/query.ts'

/** Side A is `before` and side B is `after`, as in the comparison of a change. */
export type ComparedSide = 'before' | 'after'

/** Size of one side, not sampled. */
export interface SideRow {
  side: ComparedSide
  /** Number of stored events, and the sum of their weights. */
  events: number
  weight: number
  sessions: number
  firstAt: number
  lastAt: number
}

/** Weight of the events with one name in which a parameter has one value. */
export interface ValueRow {
  vendor: string
  event: string
  side: ComparedSide
  key: string
  value: string
  weight: number
}

/** Number of sessions with events on pages of one host. */
export interface HostRow {
  side: ComparedSide
  host: string
  sessions: number
}

/** Maximum number of rows with values, and of hosts by side. */
const MAX_VALUES = 6000
const MAX_HOSTS = 400

/** Returns the query for the size of each side. */
export function sidesQuery(events: SidedEvents): Query {
  return query('insights.compared-sides', {
    orgId: events.orgId,
    window: events.window,
    write: (binder) => ({
      sql: `SELECT side, sum(own) AS events, sum(weight) AS weight, count(*) AS sessions, min(firstAt) AS "firstAt",
          max(lastAt) AS "lastAt"
        FROM (
          SELECT ${events.side(binder)} AS side, ${UNIT} AS unit, count(*) AS own, sum(weight) AS weight,
            min(receivedAt) AS firstAt, max(receivedAt) AS lastAt
          FROM events WHERE ${events.where(binder)} GROUP BY ALL
        ) AS units GROUP BY side`,
    }),
  })
}

/**
 * Returns the query for values that at least 5 % of a parameter's values have on either side. The most frequent ones
 * come first.
 */
export function frequentValuesQuery(
  sides: SidedEvents,
  { keys, events, oneIn }: { keys: readonly string[]; events: readonly string[]; oneIn: number },
): Query {
  return query('insights.compared-values', {
    orgId: sides.orgId,
    window: sides.window,
    write(binder) {
      const { isBlank } = textTests(binder)
      const each = `SELECT vendor, event, ${sides.side(binder)} AS side, weight, ${binder.dialect.textRows([])} FROM events`
      const tests = [...binder.among('key', keys), 'value IS NOT NULL', `NOT ${isBlank('value')}`]
      const own = `SELECT vendor, event, side, key, value, sum(weight) AS weight FROM (${each}) AS each
        WHERE ${tests.join(' AND ')} GROUP BY vendor, event, side, key, value`
      const shares = `SELECT *, weight / sum(weight) OVER (PARTITION BY vendor, event, side, key) AS share FROM (${own}) AS own`
      const best = `SELECT *, max(share) OVER (PARTITION BY vendor, event, key, value) AS best FROM (${shares}) AS shares`
      return {
        sql: `SELECT vendor, event, side, key, value, weight FROM (${best}) AS best WHERE best >= ${MIN_SHARE}
          ORDER BY weight DESC, vendor, event, key, value, side LIMIT ${MAX_VALUES}`,
        wholeParams: true,
        where: [sides.where(binder), ...sampleTests(oneIn, binder), ...binder.among('event', events)].join(' AND '),
      }
    },
  })
}

/** Returns the query for the hosts of pages. Those with the most sessions come first. */
export function hostsQuery(sides: SidedEvents): Query {
  return query('insights.compared-hosts', {
    orgId: sides.orgId,
    window: sides.window,
    write: (binder) => ({
      sql: `SELECT side, host, count(DISTINCT unit) AS sessions
        FROM (
          SELECT ${sides.side(binder)} AS side, host, ${UNIT} AS unit FROM events WHERE ${sides.where(binder)} AND host <> ''
        ) AS pages GROUP BY side, host ORDER BY sessions DESC, host, side LIMIT ${MAX_HOSTS}`,
    }),
  })
}
