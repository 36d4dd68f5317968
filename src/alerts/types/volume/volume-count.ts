import { targetOf } from '../../../conditions/condition.ts'
import { filtersSql } from '../../../conditions/condition-sql.ts'
import { parser, type TSchema, Type } from '../../../core/schema.ts'
import { roundEvents } from '../../../signals/chart-point.ts'
import { bucketOf, EVENT_UNIT } from '../../../warehouse/dialect.ts'
import { type Binder, type Query, query, type Statement } from '../../../warehouse/query.ts'
import { type Alert, type AlertInput, domainsOf } from '../../alert.ts'
import type { PeriodWindow } from '../../alert-period.ts'
import type { Finding, Window } from '../../finding.ts'
import { type Configuration, cachedByRows, organizationOf, type WatchedDomain } from '../alert-type.ts'
import type { IssueMessages } from '../issue-messages.ts'
import { rejectConditions, rejectInexactConditions } from '../reject-conditions.ts'

/**
 * Code shared by the alert types that count events: scope, subject, and history queries. Alerts without filters read
 * `counts`, where an hour has only a few rows; alerts with filters read `events`, because `counts` does not contain
 * parameters. Both include all environments and exclude loads of vendor libraries.
 */

/** Number of events in one domain, as integers: in the window, and in the previous window (0 when not queried). */
export interface Volume {
  count: number
  before: number
}

/** Sums of weights in one domain; null when no event is in scope. */
export interface VolumeRow {
  domainId: string
  /** The row's vendor and event, when no alert has filters. Null for the sum over all names that no alert lists. */
  vendor?: string | null
  event?: string | null
  count?: number | null
  before?: number | null
  /**
   * The sum for the alert with this id, when alerts have filters. The sum for its previous window has the key `before
   * <id>`.
   */
  [alertColumn: string]: string | number | null | undefined
}

/**
 * Maximum length of a list of names used as a filter. For longer lists the query returns all names, and unneeded names
 * are ignored.
 */
const MAX_NAMES = 500

/**
 * Returns the relation from which the alert's count is read. Alerts that are measured together read the same relation.
 */
export function volumeSource({ filters = [] }: Alert): 'counts' | 'events' {
  return filters.length === 0 ? 'counts' : 'events'
}

/**
 * Returns one query for alerts of one organization with the same `volumeSource`. `before`: the previous window; null
 * when not needed.
 */
export function volumeQuery(alerts: readonly Alert[], window: Window, before: PeriodWindow | null): Query {
  const spans = { window, from: before?.start ?? window.from, hasBefore: before !== null }
  return queryOf(alerts, spans)
}

/**
 * Like `volumeQuery` for one alert, counted by bucket (`bucketAt`: its start). When events are read, one in `oneIn`
 * sessions is read and represents all of them.
 */
export function bucketsQuery(alert: Alert, span: Query['window'], bucketMs: number, oneIn: number): Query {
  const window = { ...span, complete: true }
  return queryOf([alert], { window, from: span.from, hasBefore: false, buckets: { bucketMs, oneIn } })
}

function queryOf(alerts: readonly Alert[], spans: Spans): Query {
  const scope = { orgId: organizationOf(alerts), window: { from: spans.from, to: spans.window.to } }
  if (alerts.every((alert) => volumeSource(alert) === 'counts')) {
    return query('alerts.volume', { ...scope, over: 'counts', write: (binder) => countsSql(alerts, spans, binder) })
  }
  return query('alerts.volume-filtered', { ...scope, write: (binder) => eventsSql(alerts, spans, binder) })
}

const bucketColumn = (instant: string, { buckets }: Spans, { dialect }: Binder) =>
  buckets ? `, ${bucketOf(dialect, instant, buckets.bucketMs)} AS bucketAt` : ''

interface Spans {
  window: Window
  from: number
  hasBefore: boolean
  /** When absent, there is one count for the whole time range. */
  buckets?: { bucketMs: number; oneIn: number }
}

/** Returns SQL with the smallest result that serves all alerts: names that no alert lists are summed in one row. */
function countsSql(alerts: readonly Alert[], spans: Spans, binder: Binder): Statement {
  const { window, hasBefore } = spans
  const vendors = namesOf(alerts, ({ vendors = [] }) => vendors)
  const events = namesOf(alerts, (alert) => [countedEventOf(alert) ?? []].flat())
  const scope = [
    ...inScope('domainId', namesOf(alerts, domainsOf), binder),
    ...inScope('vendor', vendors, binder),
    ...inScope('event', events, binder),
  ]
  const where = scope.length > 0 ? ` WHERE ${scope.join(' AND ')}` : ''
  const names = `${asNamed('vendor', vendors, binder)} AS vendor, ${asNamed('event', events, binder)} AS event`
  const sum = (time: string) => `sum(weight) FILTER (WHERE minute ${time} ${window.from})`
  const sums = hasBefore ? `${sum('>=')} AS "count", ${sum('<')} AS "before"` : 'sum(weight) AS "count"'
  return {
    sql: `SELECT domainId, ${names}, ${sums}${bucketColumn('minute', spans, binder)} FROM counts${where} GROUP BY ALL`,
  }
}

/** The names that alerts list. */
interface Names {
  names: readonly string[]
  /** True when an alert counts all names. */
  isAll: boolean
}

function namesOf(alerts: readonly Alert[], namesIn: (alert: Alert) => readonly string[]): Names {
  const lists = alerts.map(namesIn)
  return { names: [...new Set(lists.flat())], isAll: lists.some((list) => list.length === 0) }
}

const listSql = (names: readonly string[], binder: Binder) => names.map((name) => binder.bind(name)).join(', ')

/** Returns a filter on the names that alerts need. */
function inScope(column: string, { names, isAll }: Names, binder: Binder): string[] {
  return isAll || names.length > MAX_NAMES ? [] : [`${column} IN (${listSql(names, binder)})`]
}

function asNamed(column: string, { names, isAll }: Names, binder: Binder): string {
  if (names.length === 0) return 'NULL'
  if (!isAll || names.length > MAX_NAMES) return column
  return `CASE WHEN ${column} IN (${listSql(names, binder)}) THEN ${column} END`
}

function eventsSql(alerts: readonly Alert[], spans: Spans, binder: Binder): Statement {
  const { window, hasBefore, buckets: { oneIn } = { oneIn: 1 } } = spans
  const columns = alerts.flatMap((alert) => {
    const scope = scopeSql(alert, binder)
    const sum = (name: string, time: string) =>
      `sum(weight) FILTER (WHERE ${time}${scope}) * ${oneIn} AS ${binder.dialect.name(name)}`
    if (!hasBefore) return [sum(alert.id, '')]
    const [now, before] = [`receivedAt >= ${window.from} AND `, `receivedAt < ${window.from} AND `]
    return [sum(alert.id, now), sum(beforeColumn(alert), before)]
  })
  const shared = [
    `kind <> 'library'`,
    ...(oneIn > 1 ? [binder.dialect.sampled(EVENT_UNIT, oneIn)] : []),
    ...inScope('domainId', namesOf(alerts, domainsOf), binder),
    ...inScope(
      'vendor',
      namesOf(alerts, ({ vendors = [] }) => vendors),
      binder,
    ),
  ]
  return {
    sql: `SELECT domainId, ${columns.join(', ')}${bucketColumn('receivedAt', spans, binder)} FROM events
      WHERE ${shared.join(' AND ')} GROUP BY ALL`,
    ...parametersOf(alerts),
  }
}

const beforeColumn = ({ id }: Alert) => `before ${id}`

/** Returns the filter on the events that an alert counts, without a domain filter. */
function scopeSql(alert: Alert, binder: Binder): string {
  const tests = [...binder.among('domainId', domainsOf(alert)), ...binder.among('vendor', alert.vendors ?? [])]
  const event = countedEventOf(alert)
  if (event !== null) tests.push(`event = ${binder.bind(event)}`)
  return [...tests, filtersSql(alert.filters ?? [], binder).sql].join(' AND ')
}

/** Returns the parameters used by the filters of these alerts. */
function parametersOf(alerts: readonly Alert[]): Pick<Statement, 'keys' | 'wholeParams'> {
  const targets = alerts.flatMap(({ filters = [] }) => filters.map(targetOf))
  const keys = targets.flatMap((target) => (target.kind === 'key' ? [target.key] : []))
  return { keys: [...new Set(keys)], wholeParams: targets.some(({ kind }) => kind === 'any') }
}

/** Sums of one domain, by vendor and event. */
interface DomainSums {
  all: Volume
  byVendor: Map<string, Volume>
  byEvent: Map<string, Volume>
  byBoth: Map<string, Volume>
}

/** Joined with NUL, which no name contains. */
const vendorAndEvent = (vendor: string, event: string) => `${vendor}\0${event}`

const sumsOf = cachedByRows((rows: readonly VolumeRow[]) => {
  const domains = new Map<string, DomainSums>()
  for (const { domainId, vendor = null, event = null, count, before } of rows) {
    let sums = domains.get(domainId)
    if (!sums) {
      sums = { all: { count: 0, before: 0 }, byVendor: new Map(), byEvent: new Map(), byBoth: new Map() }
      domains.set(domainId, sums)
    }
    const volume = { count: count ?? 0, before: before ?? 0 }
    add(sums.all, volume)
    if (vendor !== null) addTo(sums.byVendor, vendor, volume)
    if (event !== null) addTo(sums.byEvent, event, volume)
    if (vendor !== null && event !== null) addTo(sums.byBoth, vendorAndEvent(vendor, event), volume)
  }
  return domains
})

const rowsByDomain = cachedByRows((rows: readonly VolumeRow[]) => Map.groupBy(rows, ({ domainId }) => domainId))

function add(sum: Volume, { count, before }: Volume): void {
  sum.count += count
  sum.before += before
}

function addTo(sums: Map<string, Volume>, name: string, volume: Volume): void {
  const sum = sums.get(name)
  if (sum) add(sum, volume)
  else sums.set(name, { ...volume })
}

/**
 * Returns the alert's count in a domain, from the result of `volumeQuery`. Takes constant time, regardless of the
 * number of rows.
 */
export function volumeIn(alert: Alert, rows: readonly VolumeRow[], domainId: string): Volume {
  const sum = { count: 0, before: 0 }
  if (volumeSource(alert) === 'events') {
    for (const row of rowsByDomain(rows).get(domainId) ?? []) {
      add(sum, { count: Number(row[alert.id] ?? 0), before: Number(row[beforeColumn(alert)] ?? 0) })
    }
  } else {
    const sums = sumsOf(rows).get(domainId)
    for (const part of sums ? partsOf(alert, sums) : []) if (part) add(sum, part)
  }
  return { count: roundEvents(sum.count), before: roundEvents(sum.before) }
}

function partsOf(alert: Alert, sums: DomainSums): (Volume | undefined)[] {
  const vendors = [...new Set(alert.vendors)]
  const event = countedEventOf(alert)
  if (vendors.length === 0) return [event === null ? sums.all : sums.byEvent.get(event)]
  return vendors.map((vendor) =>
    event === null ? sums.byVendor.get(vendor) : sums.byBoth.get(vendorAndEvent(vendor, event)),
  )
}

/** Returns the organization's domains that the alert watches. Deleted domains are not included. */
export function watchedOf(alert: Alert, domains: readonly WatchedDomain[]): readonly WatchedDomain[] {
  const ids = new Set(domainsOf(alert))
  return ids.size > 0 ? domains.filter(({ id }) => ids.has(id)) : domains
}

/** Returns the event that the alert counts; null for all events. Each shape of `volume` has this field. */
export const countedEventOf = ({ volume }: Alert) => (volume as { event?: string } | undefined)?.event || null

/**
 * Returns the finding for a window that fired. Its vendor is the alert's vendor when there is exactly one; its event is
 * the counted event.
 */
export function volumeFinding(
  alert: Alert,
  domainId: string,
  window: Window,
  fields: Pick<Finding, 'summary' | 'observed' | 'expected' | 'expectation'>,
): Finding {
  const [vendor = null, ...others] = alert.vendors ?? []
  const subject = { vendor: others.length === 0 ? vendor : null, event: countedEventOf(alert) }
  return {
    domainId,
    subject: [subject.vendor, subject.event].filter(Boolean).join(' '),
    ...subject,
    occurrences: 1,
    ...fields,
    firstAt: window.from,
    lastAt: window.to - 1,
    hosts: [],
    sample: null,
    sampleSeq: null,
  }
}

/** The `event` field, common to all shapes of `volume`. */
export const CountedEventSchema = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'Event to count. All events in scope if omitted or empty',
    examples: ['purchase'],
  }),
)

/** Returns the configuration with one shape of `volume`. */
export function volumeConfiguration(schema: TSchema): Configuration {
  return { field: 'volume', about: 'Firing condition', schema, read: parser(schema) }
}

/** Throws `AppError('invalid')`, naming the field, for fields that counting alerts do not use. */
export function rejectForVolume(input: AlertInput): void {
  rejectConditions(input, `not allowed in a ${input.alertType} alert; use filters to select the events to count`)
  rejectInexactConditions(input.filters ?? [], 'filters')
}

/**
 * Messages for types that evaluate the count of a window. The finding has the numbers of the window that opened the
 * issue.
 */
export const volumeMessages: IssueMessages = {
  unit: { one: 'window', many: 'windows', meaning: 'windows that fired' },
  title: ({ name, what, finding }) => `${name}${what ? ` (${what})` : ''}: ${finding.summary}`,
  summary: ({ subject, summary }) => `${summary ?? 'unexpected volume'}${subject ? ` (${subject})` : ''}`,
  expected: null,
  countsFirings: true,
  explainsDrops: false,
  isRise: () => null,
  summarize: () => null,
}
