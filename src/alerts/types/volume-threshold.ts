import { targetOf } from '../../conditions/condition.ts'
import { filtersSql } from '../../conditions/sql.ts'
import { AppError } from '../../core/error.ts'
import { parser, type Static } from '../../core/schema.ts'
import { duckdbDialect, quoteName } from '../../warehouse/dialect.ts'
import { Binder, type Query } from '../../warehouse/query.ts'
import { type Alert, CountThresholdSchema, domainsOf } from '../alert.ts'
import type { Finding, Window } from '../finding.ts'
import { type AlertType, type DraftAlert, orgOf, type WatchedDomain } from './alert-type.ts'

type CountThreshold = Static<typeof CountThresholdSchema>

/** Weighted counts of one domain, each in a column named after its alert; null where nothing is in scope. */
export interface CountRow {
  domainId: string
  [alertId: string]: string | number | null
}

const readThreshold = parser(CountThresholdSchema)

/** Fires for each domain whose count of events in scope is too low or too high over a whole window. */
export const volumeThreshold: AlertType<CountRow> = {
  kind: 'volume_threshold',
  title: 'Volume threshold',
  partial: false,

  check(input) {
    if (input.journey !== undefined) {
      throw new AppError('invalid', 'journey: has no place in a volume_threshold alert')
    }
    if (input.volume === undefined) {
      throw new AppError('invalid', 'volume: a volume_threshold alert needs op and count')
    }
    readThreshold(input.volume, 'volume')
    refuseConditions(input)
    refuseInexactFilters(input)
  },

  measure(alerts, window) {
    const binder = new Binder()
    const counts = alerts.map(
      (alert) => `sum(weight) FILTER (WHERE ${scopeSql(alert, binder)}) AS ${quoteName(alert.id)}`,
    )
    return {
      sql: `SELECT domainId, ${counts.join(', ')} FROM events${sharedScope(alerts, binder)} GROUP BY domainId`,
      params: binder.params,
      ...parametersOf(alerts),
      orgId: orgOf(alerts),
      window,
    }
  },

  judge(alert, rows, window, domains) {
    const threshold = readThreshold(alert.volume, 'volume')
    const counts = new Map(rows.map((row) => [row.domainId, Number(row[alert.id] ?? 0)]))
    return watchedOf(alert, domains).flatMap((domain) => {
      // Sampled events stand for several, so a sum can be fractional; what is compared is what is shown.
      const count = Math.round(counts.get(domain.id) ?? 0)
      const isTooLow = threshold.op === 'lte' && count <= threshold.count && domain.createdAt <= window.from
      const isTooHigh = threshold.op === 'gte' && count >= threshold.count
      return isTooLow || isTooHigh ? [findingOf(alert, domain.id, threshold, count, window)] : []
    })
  },
}

function refuseConditions({ conditions, conditionGroups = [] }: DraftAlert): void {
  if (conditions && conditions.items.length > 0) throw onlyFilters('conditions')
  const index = conditionGroups.findIndex((group) => group.items.length > 0)
  if (index >= 0) throw onlyFilters(`conditionGroups[${index}]`)
}

const onlyFilters = (field: string) =>
  new AppError('invalid', `${field}: a volume_threshold alert counts what its filters let through; use filters`)

function refuseInexactFilters({ filters = [] }: DraftAlert): void {
  const index = filters.findIndex((filter) => !filtersSql([filter], duckdbDialect, new Binder()).exact)
  if (index < 0) return
  throw new AppError(
    'invalid',
    `filters[${index}].op: ${filters[index]?.op} works in data_validation alerts only, where each event is looked at`,
  )
}

/** Which events an alert counts, wherever they were. */
function scopeSql(alert: Alert, binder: Binder): string {
  const tests = [...inList('domainId', domainsOf(alert), binder), ...inList('vendor', alert.vendors ?? [], binder)]
  const event = eventOf(alert)
  if (event !== null) tests.push(`event = ${binder.bind(event)}`)
  return [...tests, filtersSql(alert.filters ?? [], duckdbDialect, binder).sql].join(' AND ')
}

/** What the filters of all these alerts read. */
function parametersOf(alerts: readonly Alert[]): Pick<Query, 'keys' | 'wholeParams'> {
  const targets = alerts.flatMap(({ filters = [] }) => filters.map(targetOf))
  const keys = targets.flatMap((target) => (target.kind === 'key' ? [target.key] : []))
  return { keys: [...new Set(keys)], wholeParams: targets.some(({ kind }) => kind === 'any') }
}

/** What no alert asks for need not be read. */
function sharedScope(alerts: readonly Alert[], binder: Binder): string {
  const union = (lists: string[][]) => (lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())])
  const tests = [
    ...inList('domainId', union(alerts.map(domainsOf)), binder),
    ...inList('vendor', union(alerts.map(({ vendors = [] }) => vendors)), binder),
  ]
  return tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : ''
}

/** No test for an empty list, which means all. */
function inList(column: string, values: readonly string[], binder: Binder): string[] {
  return values.length > 0 ? [`${column} IN (${values.map((value) => binder.bind(value)).join(', ')})`] : []
}

/** Of the organization's domains those that the alert watches; a domain that is gone is watched no more. */
function watchedOf(alert: Alert, domains: readonly WatchedDomain[]): readonly WatchedDomain[] {
  const ids = new Set(domainsOf(alert))
  return ids.size > 0 ? domains.filter(({ id }) => ids.has(id)) : domains
}

const eventOf = ({ volume }: Alert) => volume?.event || null

function findingOf(
  alert: Alert,
  domainId: string,
  { op, count: limit }: CountThreshold,
  count: number,
  window: Window,
): Finding {
  const [vendor = null, ...others] = alert.vendors ?? []
  const subject = { vendor: others.length === 0 ? vendor : null, event: eventOf(alert) }
  const spell = (value: number) => value.toLocaleString('en-US')
  const events = `${spell(count)} ${count === 1 ? 'event' : 'events'}`
  return {
    domainId,
    subject: [subject.vendor, subject.event].filter(Boolean).join(' '),
    ...subject,
    occurrences: 1,
    summary: `${events}, expected ${op === 'lte' ? 'more' : 'fewer'} than ${spell(limit)}`,
    observed: count,
    expected: limit,
    firstAt: window.from,
    lastAt: window.to - 1,
    hosts: [],
    sample: null,
    sampleSeq: null,
  }
}
