import { textTests } from '../conditions/condition-sql.ts'
import { FAILED_SQL } from '../core/event.ts'
import { unitSql } from '../warehouse/dialect.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import type { ChangeWindow } from './change-window.ts'
import { lagSql, oldestPeriodStart } from './change-window.ts'

/** Options for reading events. */
export interface ReadOptions extends ChangeWindow {
  /** Sampling: one in `oneIn` sessions is read. */
  oneIn: number
  /**
   * New versions, which are compared with the other versions running at the same time. When empty, the time before the
   * change is compared with the time after it.
   */
  newVersions: readonly number[]
  /**
   * Alerts created or modified since the start of the compared periods. Their violations are ignored, because they do
   * not result from the change.
   */
  youngAlerts: readonly string[]
}

/** Events that are counted by side. */
export interface SidedEvents {
  orgId: string
  window: Query['window']
  /** SQL that is true for the counted events. */
  where(binder: Binder): string
  /** SQL for the side of an event. */
  side(binder: Binder): string
  /** SQL for the block in which a session began at `startAt`. */
  block(binder: Binder): string
  /** Alerts whose violations are ignored. */
  youngAlerts: readonly string[]
}

/** SQL for the sender of an event: its session id, else its customer id, else the id of the event itself. */
const SENDER = ['sessionId', 'customerId', 'id']
export const UNIT = unitSql(SENDER)
const IS_COUNTED = `env = 'prod' AND kind <> 'library'`
/** SQL for the number of correlated events in a session, at most 50. */
const FACTOR = 'CASE WHEN own > 50 THEN 50 ELSE own END'
const WEIGHT_SQUARE = 'CASE WHEN own > 50 THEN weight * weight * 50 / own ELSE weight * weight END'
/**
 * Number of blocks into which the time after a change is divided. Sessions of the new version are compared with
 * sessions of the old version that began in the same block.
 */
export const BLOCKS = 6

const around = ({ at, lengthMs }: ChangeWindow): Query['window'] => ({ from: at - lengthMs, to: at + lengthMs })

/** Returns SQL tests that select one in `oneIn` sessions. */
export const sampleTests = (oneIn: number, { dialect }: Binder): string[] =>
  oneIn > 1 ? [dialect.sampled(SENDER, oneIn)] : []

function scopeOf({ domainId, oneIn = 1 }: Pick<ReadOptions, 'domainId'> & { oneIn?: number }, binder: Binder): string {
  return [`domainId = ${binder.bind(domainId)}`, IS_COUNTED, ...sampleTests(oneIn, binder)].join(' AND ')
}

/** Returns the sides of a change. */
export function changeSides(reading: ReadOptions): SidedEvents {
  const { orgId, at, lengthMs, newVersions, youngAlerts } = reading
  return {
    orgId,
    window: around(reading),
    where: (binder) => scopeOf(reading, binder),
    side: (binder) => sideSql(reading, binder),
    block({ dialect }) {
      if (newVersions.length === 0) return '0'
      const part = dialect.quotient(`(startAt - ${at})`, Math.ceil(lengthMs / BLOCKS))
      return `CASE WHEN startAt < ${at} THEN -1 ELSE ${part} END`
    },
    youngAlerts,
  }
}

/** Returns the query for the number of events by version, before and after the change. */
export function versionsQuery(window: ChangeWindow): Query {
  return query('changes.versions', {
    orgId: window.orgId,
    window: around(window),
    write: (binder) => ({
      sql: `SELECT version, CASE WHEN receivedAt < ${window.at} THEN 'before' ELSE 'after' END AS side,
          count(*) AS events, sum(weight) AS weight
        FROM events WHERE ${scopeOf(window, binder)} GROUP BY ALL`,
    }),
  })
}

/** Returns SQL for the side of the change to which an event belongs. */
function sideSql({ at, newVersions }: ReadOptions, binder: Binder): string {
  if (newVersions.length === 0) return `CASE WHEN receivedAt < ${at} THEN 'before' ELSE 'after' END`
  const fresh = newVersions.map((version) => binder.bind(version)).join(', ')
  return `CASE WHEN receivedAt < ${at} THEN 'before' WHEN version IS NULL THEN 'after'
    WHEN version IN (${fresh}) THEN 'new' ELSE 'old' END`
}

function violatedSql({ youngAlerts }: Pick<ReadOptions, 'youngAlerts'>, binder: Binder): string {
  const young = youngAlerts.map((id) => binder.dialect.has('violations', binder.bind(id)))
  return ['violated', ...(young.length > 0 ? [`NOT (${young.join(' OR ')})`] : [])].join(' AND ')
}

const weightWhere = (test: string) => `sum(CASE WHEN ${test} THEN weight ELSE 0 END)`

/** Returns the query for the rows of `SessionRow`. */
export function sessionsQuery(events: SidedEvents): Query {
  return query('changes.sessions', {
    orgId: events.orgId,
    window: events.window,
    write(binder) {
      const own = `SELECT ${events.side(binder)} AS side, ${UNIT} AS unit, vendor, event, count(*) AS own,
          sum(weight) AS weight, ${weightWhere('status IS NOT NULL')} AS known, ${weightWhere(FAILED_SQL)} AS failed,
          ${weightWhere(violatedSql(events, binder))} AS violated, min(receivedAt) AS firstAt
        FROM events WHERE ${events.where(binder)} GROUP BY ALL`
      const placed = `SELECT *, row_number() OVER (PARTITION BY side, unit ORDER BY vendor, event) AS place,
          min(firstAt) OVER (PARTITION BY unit) AS startAt FROM (${own}) AS own`
      return {
        sql: `SELECT vendor, event, side, ${events.block(binder)} AS block, count(*) AS sessions,
            sum(CASE WHEN place = 1 THEN 1 ELSE 0 END) AS firsts, sum(own) AS events, sum(weight) AS weight,
            sum(own * ${FACTOR}) AS squares, sum(${WEIGHT_SQUARE}) AS weightSquares,
            sum(known) AS known, sum(failed) AS failed, sum(violated) AS violated
          FROM (${placed}) AS placed GROUP BY vendor, event, side, block`,
      }
    },
  })
}

/** Returns the query for the names of parameters in the window, possibly with names outside it. */
export function keyNamesQuery({ orgId, window }: Pick<SidedEvents, 'orgId' | 'window'>): Query {
  return query('changes.key-names', {
    over: 'names',
    orgId,
    window,
    write: () => ({ sql: 'SELECT name FROM names' }),
  })
}

/**
 * Returns SQL with numbered columns for each key: the weights of events with the key, in total and by type of value.
 */
function keyColumns(keys: readonly string[], binder: Binder): string {
  const { isBlank, isNumber } = textTests(binder)
  return keys
    .flatMap((key, at) => {
      const value = binder.dialect.key(key)
      const sum = (test: string) => weightWhere(`${value} IS NOT NULL AND ${test}`)
      return [
        `${sum(`NOT ${isBlank(value)}`)} AS w${at}`,
        `${sum(isNumber(value))} AS n${at}`,
        `${sum(`${value} IN ('true', 'false')`)} AS b${at}`,
      ]
    })
    .join(', ')
}

/** Returns the query for the rows of `KeyRow` with these keys and event names. An empty list selects all of them. */
export function keysQuery(
  sides: SidedEvents,
  { keys, events }: { keys: readonly string[]; events: readonly string[] },
): Query {
  return query('changes.keys', {
    orgId: sides.orgId,
    window: sides.window,
    write(binder) {
      const { isBlank, isNumber } = textTests(binder)
      const each = `SELECT vendor, event, ${sides.side(binder)} AS side, weight, ${binder.dialect.textRows([])} FROM events`
      const tests = [...binder.among('key', keys), 'value IS NOT NULL', `NOT ${isBlank('value')}`]
      return {
        sql: `SELECT vendor, event, side, key, sum(weight) AS weight, ${weightWhere(isNumber('value'))} AS numbers,
            ${weightWhere(`value IN ('true', 'false')`)} AS booleans
          FROM (${each}) AS each WHERE ${tests.join(' AND ')} GROUP BY vendor, event, side, key`,
        wholeParams: true,
        where: [sides.where(binder), ...binder.among('event', events)].join(' AND '),
      }
    },
  })
}

/**
 * Returns the query for consent by vendor: the number of sessions in which a consent parameter was granted at least
 * once, and the number in which it was only denied.
 */
export function consentQuery(sides: SidedEvents, key: string): Query {
  return query('changes.consent', {
    orgId: sides.orgId,
    window: sides.window,
    write(binder) {
      const value = binder.dialect.key(key)
      const said = (word: string) => `max(CASE WHEN ${value} = '${word}' THEN 1 ELSE 0 END)`
      return {
        sql: `SELECT vendor, side, sum(granted) AS granted, sum(denied * (1 - granted)) AS denied
          FROM (
            SELECT vendor, ${sides.side(binder)} AS side, ${UNIT} AS unit, ${said('granted')} AS granted,
              ${said('denied')} AS denied
            FROM events WHERE ${value} IN ('granted', 'denied') GROUP BY ALL
          ) AS said GROUP BY vendor, side`,
        keys: [key],
        where: sides.where(binder),
      }
    },
  })
}

/** Returns the query for the number of events by name in the same hours on earlier days. */
export function volumesQuery(window: ChangeWindow): Query {
  const minute = 60_000
  const whole = {
    ...window,
    at: window.at - (window.at % minute),
    lengthMs: Math.ceil(window.lengthMs / minute) * minute,
  }
  return query('changes.volumes', {
    over: 'counts',
    orgId: window.orgId,
    window: { from: oldestPeriodStart(whole), to: whole.at - whole.lengthMs },
    write(binder) {
      const { lag, side, isCompared } = lagSql(whole, 'minute', binder.dialect.quotient)
      return {
        sql: `SELECT vendor, event, ${lag} AS lag, ${side} AS side, sum(events) AS events, sum(weight) AS weight
          FROM counts WHERE domainId = ${binder.bind(window.domainId)} AND env = 'prod' AND ${isCompared} GROUP BY ALL`,
      }
    },
  })
}

/** Returns the query for sums by event name and key in the same hours on earlier days. */
export function earlierPeriodsQuery(
  reading: ReadOptions,
  { vendors, events, keys }: { vendors: readonly string[]; events: readonly string[]; keys: readonly string[] },
): Query {
  const { orgId, at, lengthMs } = reading
  return query('changes.past', {
    orgId,
    window: { from: oldestPeriodStart(reading), to: at - lengthMs },
    write(binder) {
      const { lag, side, isCompared } = lagSql(reading, 'receivedAt', binder.dialect.quotient)
      const named = [...binder.among('vendor', vendors), ...binder.among('event', events)]
      const perUnit = `SELECT vendor, event, ${lag} AS lag, ${side} AS side, ${UNIT} AS unit, count(*) AS own,
          sum(weight) AS weight, ${weightWhere('status IS NOT NULL')} AS known, ${weightWhere(FAILED_SQL)} AS failed,
          ${weightWhere(violatedSql(reading, binder))} AS violated${keys.length > 0 ? `, ${keyColumns(keys, binder)}` : ''}
        FROM events GROUP BY ALL`
      const sums = keys.flatMap((_, place) => ['w', 'n', 'b'].map((kind) => `sum(${kind}${place}) AS ${kind}${place}`))
      return {
        sql: `SELECT vendor, event, lag, side, sum(own) AS events, sum(weight) AS weight,
            sum(${WEIGHT_SQUARE}) AS weightSquares,
            sum(known) AS known, sum(failed) AS failed, sum(violated) AS violated${sums.map((sum) => `, ${sum}`).join('')}
          FROM (${perUnit}) AS own GROUP BY vendor, event, lag, side`,
        keys,
        where: [scopeOf(reading, binder), ...named, isCompared].join(' AND '),
      }
    },
  })
}
