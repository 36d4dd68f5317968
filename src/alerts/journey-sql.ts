import type { Condition } from '../conditions/condition.ts'
import { filtersSql } from '../conditions/sql.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { duckdbDialect, isStorable } from '../warehouse/dialect.ts'
import { Binder, type Query } from '../warehouse/query.ts'
import { domainsOf } from './alert.ts'
import { type Ask, keyOf, type Plan } from './journey.ts'

/** Without an event for so long a session has ended; what its sender calls by the same id later is another one. */
export const SESSION_GAP_MS = 30 * MINUTE_MS
/** Of a longer session only the events of so long before its last one are walked. */
export const MAX_SESSION_MS = 24 * HOUR_MS - SESSION_GAP_MS
/** A session of more events than that is a program's, and is not judged: cut, it would show faults it doesn't have. */
export const MAX_SESSION_EVENTS = 5000
/** So many different shapes of an alert's sessions are looked at, the most frequent ones. */
export const MAX_SHAPES = 10_000

/** An event that belongs to a label; an empty or absent field matches any. */
export interface LabelMember {
  vendor?: string
  event?: string
}
/** The members of a label of the organization; none for a label that does not exist. */
export type MembersOf = (label: string) => readonly LabelMember[]

/** An alert of which sessions are asked for. */
export interface WalkedAlert {
  id: string
  plan: Plan
  domainId?: string
  domainIds?: string[]
  filters?: readonly Condition[]
}

/** Sessions of one alert in one domain that show the same. */
export interface ShapeRow {
  alertId: string
  domainId: string
  /** Of their last event that has one. */
  host: string | null
  /** The newest of them, for `readShape`; empty when they show nothing that the alert asks for. */
  shape: string
  /** Sum of the sessions' weights, so not always whole. A session stands for as many as its most thinned part. */
  sessions: number
  /** When the last event of the first and of the last session that ended was received. */
  firstAt: Instant
  lastAt: Instant
  /** Of the newest of them. */
  lastSeq: number
  startSeq: number
  startAt: Instant
}

/**
 * Asks for the sessions that ended in the window, in groups of the same shape, once for all alerts. A session is what
 * one domain receives under one id without a gap of 30 minutes, and it ended 30 minutes behind its last event: so a
 * session ends in exactly one of windows that touch, and nothing that comes later changes what it shows.
 */
export function journeysSql(
  alerts: readonly WalkedAlert[],
  window: Query['window'],
  membersOf: MembersOf,
): Pick<Query, 'sql' | 'params' | 'keys' | 'wholeParams' | 'window'> {
  const writer = new Writer(membersOf)
  const parts = alerts.map((alert) => writer.alert(alert))
  const list = (items: readonly string[]) => `[${items.join(', ')}]`
  const asked = writer.askColumns.length > 0 ? writer.askColumns.join(' OR ') : '(1 = 0)'
  const fromStart = parts.filter(({ fromStart }) => fromStart).map(({ id }) => id)
  const orNothing = fromStart.length > 0 ? ` OR alertId IN (${fromStart.join(', ')})` : ''
  const each = (write: (part: (typeof parts)[number], index: number) => string) => parts.map(write).join('')
  const session = 'PARTITION BY sid ORDER BY ts, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'
  // Lists in an aggregate stay in memory, however many sessions there are. So sessions are told apart by a hash of what
  // they show in which place, and only one of each shape is then spelled out.
  const sql = `
    SELECT * FROM (
      WITH walked AS MATERIALIZED (${walkedSql(writer, alerts, window)}),
      ended AS (
        SELECT sid, any_value(domainId) AS domainId, arg_max(host, seq) AS host, max(weight) AS weight,
          max(lastAt) AS lastAt, max(seq) AS lastSeq, min(seq) AS startSeq, min(receivedAt) AS startAt
          ${writer.filterColumns.map((name) => `, bool_or(${name}) AS ${name}`).join('')}
        FROM walked GROUP BY sid HAVING count(*) <= ${MAX_SESSION_EVENTS}
      ),
      marked AS (
        SELECT sid${each(({ hit, code }, n) => `, bit_xor(hash(place${n} || ':' || ${code})) FILTER (WHERE ${hit}) AS mark${n}`)}
        FROM (
          SELECT *${each(({ hit }, n) => `, count(*) FILTER (WHERE ${hit}) OVER (${session}) AS place${n}`)}
          FROM walked WHERE ${asked}
        )
        GROUP BY sid
      ),
      sessions AS (
        SELECT ended.*, unnest(${list(parts.map(({ inScope }) => inScope))}) AS alertId,
          unnest(${list(parts.map((_, n) => `mark${n}`))}) AS mark
        FROM ended LEFT JOIN marked USING (sid)
      ),
      shapes AS MATERIALIZED (
        SELECT alertId, domainId, host, sum(weight) AS sessions, min(lastAt) AS firstAt, max(lastAt) AS lastAt,
          max(lastSeq) AS lastSeq, arg_max(startSeq, lastSeq) AS startSeq, arg_max(startAt, lastSeq) AS startAt,
          arg_max(sid, lastSeq) AS sid
        FROM sessions WHERE alertId IS NOT NULL AND (mark IS NOT NULL${orNothing})
        GROUP BY alertId, domainId, host, mark
        QUALIFY row_number() OVER (
          PARTITION BY alertId ORDER BY sum(weight) DESC, domainId, mark, host
        ) <= ${MAX_SHAPES}
      ),
      shown AS (
        SELECT sid, list_sort(list({ts: ts, seq: seq, receivedAt: receivedAt${writer.askColumns.map((name) => `, ${name}: ${name}`).join('')}})) AS hits
        FROM walked SEMI JOIN (SELECT DISTINCT sid FROM shapes) USING (sid) WHERE ${asked} GROUP BY sid
      )
      SELECT * EXCLUDE (sid, hits), CASE alertId${each(({ id, text }) => ` WHEN ${id} THEN ${text}`)} END AS shape
      FROM shapes LEFT JOIN shown USING (sid)
    )`
  const { keys, wholeParams, params } = writer
  const reach = { from: window.from - SESSION_GAP_MS - MAX_SESSION_MS, to: window.to }
  return { sql, params, keys: [...keys], wholeParams, window: reach }
}

/** The events of the sessions that ended in the window; `sid` is their first one's `seq`, `lastAt` their last one's time. */
function walkedSql(writer: Writer, alerts: readonly WalkedAlert[], { from, to }: Query['window']): string {
  const own = writer.inAnyDomain(alerts)
  const session = 'PARTITION BY domainId, sessionId ORDER BY receivedAt, seq'
  const columns = [...writer.columns].map(([name, sql]) => `, ${sql} AS ${name}`).join('')
  return `
    SELECT * FROM (
      SELECT *, max(receivedAt) OVER (PARTITION BY sid) AS lastAt
      FROM (
        SELECT *, max(opens) OVER (${session} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS sid
        FROM (
          SELECT domainId, sessionId, receivedAt, ts, seq, host, weight${columns},
            CASE WHEN receivedAt - lag(receivedAt) OVER (${session}) < ${SESSION_GAP_MS} THEN NULL ELSE seq END AS opens
          FROM events SEMI JOIN (
            SELECT DISTINCT domainId, sessionId FROM events
            WHERE receivedAt >= ${from - SESSION_GAP_MS} AND receivedAt < ${to - SESSION_GAP_MS}
              AND sessionId <> ''${own}
          ) USING (domainId, sessionId)
        )
      )
    )
    WHERE lastAt >= ${from - SESSION_GAP_MS} AND lastAt < ${to - SESSION_GAP_MS}
      AND receivedAt >= lastAt - ${MAX_SESSION_MS}`
}

/** Gathers the columns that say of each event what it answers, those that alerts share only once. */
class Writer {
  /** Boolean expressions by the name of their column. */
  readonly columns = new Map<string, string>()
  readonly askColumns: string[] = []
  readonly filterColumns: string[] = []
  readonly keys = new Set<string>()
  wholeParams = false
  private readonly binder = new Binder()
  private readonly known = new Map<string, string>()

  constructor(private readonly membersOf: MembersOf) {}

  get params(): Query['params'] {
    return this.binder.params
  }

  alert(alert: WalkedAlert) {
    const { plan, filters = [] } = alert
    const id = this.binder.bind(alert.id)
    const asks = plan.asks.map((ask) => this.askColumn(ask))
    const domains = this.binder.among('domainId', domainsOf(alert))
    const chosen = filters.length > 0 ? [...domains, this.filterColumn(filters)] : domains
    return {
      id,
      /** Whether an event answers anything, and if so what. */
      hit: [...domains, asks.length > 0 ? `(${asks.join(' OR ')})` : NEVER].join(' AND '),
      code: asks.length > 0 ? codeSql(asks) : "''",
      text: asks.length > 0 ? shapeSql(asks) : "''",
      /** Of a session, its id where the alert walks it. */
      inScope: chosen.length > 0 ? `CASE WHEN ${chosen.join(' AND ')} THEN ${id} END` : id,
      fromStart: plan.form === 'steps' && plan.steps[0]?.anchor === null,
    }
  }

  /** Nothing where some alert watches every domain. */
  inAnyDomain(alerts: readonly WalkedAlert[]): string {
    const lists = alerts.map(domainsOf)
    const union = lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())]
    return this.binder
      .among('domainId', union)
      .map((test) => ` AND ${test}`)
      .join('')
  }

  private askColumn(ask: Ask): string {
    return this.column(this.askColumns, 'ask', keyOf(ask), () => this.ask(ask))
  }

  private filterColumn(filters: readonly Condition[]): string {
    return this.column(this.filterColumns, 'filter', JSON.stringify(filters), () => this.conditions(filters))
  }

  private column(list: string[], kind: string, key: string, write: () => string): string {
    const known = this.known.get(`${kind} ${key}`)
    if (known !== undefined) return known
    const name = `${kind}${list.push('') - 1}`
    list[list.length - 1] = name
    this.known.set(`${kind} ${key}`, name)
    this.columns.set(name, write())
    return name
  }

  private ask({ page, label, vendor, event, data }: Ask): string {
    const tests = [
      ...(page ? [this.page(page)] : []),
      ...(label === null ? [] : [this.label(label)]),
      ...this.named({ vendor, event }),
      ...(data.length > 0 ? [this.conditions(data)] : []),
    ]
    return `(${tests.join(' AND ')})`
  }

  private page({ op, path }: NonNullable<Ask['page']>): string {
    const text = this.text(path)
    if (text === null) return NEVER
    if (op === 'equals') return `coalesce(path = ${text}, false)`
    const test = op === 'contains' ? duckdbDialect.contains('path', text) : duckdbDialect.startsWith('path', text)
    return `coalesce(${test}, false)`
  }

  private label(label: string): string {
    const members = this.membersOf(label).map((member) => this.named(member))
    const tests = members.flatMap((tests) => (tests.length > 0 ? [`(${tests.join(' AND ')})`] : []))
    return tests.length > 0 ? `(${tests.join(' OR ')})` : NEVER
  }

  private named({ vendor, event }: { vendor?: string | null; event?: string | null }): string[] {
    return Object.entries({ vendor, event }).flatMap(([column, value]) => {
      if (!value) return []
      const text = this.text(value)
      return [text === null ? NEVER : `${column} = ${text}`]
    })
  }

  private conditions(conditions: readonly Condition[]): string {
    const { sql, keys, wholeParams } = filtersSql(conditions, duckdbDialect, this.binder)
    for (const key of keys) this.keys.add(key)
    this.wholeParams ||= wholeParams
    return sql
  }

  /** Null for a text that no event has. */
  private text(text: string): string | null {
    return isStorable(text) ? this.binder.bind(text) : null
  }
}

const NEVER = '(1 = 0)'

/** The places of the asks that an event answers: `0,2`. */
const codeSql = (asks: readonly string[]) =>
  `concat_ws(',', ${asks.map((ask, place) => `CASE WHEN ${ask} THEN '${place}' END`).join(', ')})`

/** What the list `hits` of a session shows of these asks, as `readShape` reads it. */
function shapeSql(asks: readonly string[]): string {
  const own = asks.map((ask) => `hit.${ask}`)
  const hit = `concat_ws('+', ${codeSql(own)}, hit.seq - startSeq, hit.receivedAt - startAt)`
  const hits = `list_filter(hits, lambda hit: ${own.join(' OR ')})`
  return `coalesce(array_to_string(list_transform(${hits}, lambda hit: ${hit}), ';'), '')`
}
