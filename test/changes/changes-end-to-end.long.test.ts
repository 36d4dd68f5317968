import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  changeSides,
  consentQuery,
  earlierPeriodsQuery,
  keysQuery,
  type ReadOptions,
  sessionsQuery,
  versionsQuery,
  volumesQuery,
} from '../../src/changes/change-queries.ts'
import { type ChangeWindow, lagDays, maxDaysBack } from '../../src/changes/change-window.ts'
import { readNumber } from '../../src/conditions/parse-number.ts'
import { isBlank } from '../../src/conditions/text-length.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import type { StoredEvent } from '../../src/core/event.ts'
import { type HistoryFixture, openHistory } from '../../src/insights/history.fixture.ts'
import type { Query } from '../../src/warehouse/query.ts'

/*
 * Compares the query results around a change with plain counts of the same 20,000 events, before and after compaction.
 * The events include sampled and dev events, and blank and unusual values.
 */

let history: HistoryFixture
beforeAll(async () => {
  history = await openHistory()
})
afterAll(() => history[Symbol.asyncDispose]())

type Row = Record<string, string | number | null>

/**
 * Converts rows to sorted strings that can be compared between engines. Numbers are rounded to six digits. U+FEFF at
 * the beginning of a string is removed, as by the engine's reader.
 */
const comparable = (rows: readonly Row[]) =>
  rows
    .map((row) => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
    .map((entries) => JSON.stringify(entries.map(([, value]) => shown(value))))
    .sort()

const shown = (value: string | number | null) =>
  typeof value === 'number' ? Number(value.toPrecision(6)) : (value?.replace(/^\ufeff/, '') ?? null)

async function expectRows(query: Query, expected: readonly Row[]): Promise<void> {
  const { fixture } = history
  const rows = await fixture.warehouse.query<Row>(query)
  expect(rows.length).toBeGreaterThan(0)
  expect(comparable(rows)).toEqual(comparable(expected))
}

function readings(): ReadOptions[] {
  const { orgId, domains, now } = history
  const domainId = domains[0]?.id ?? ''
  const about = { orgId, domainId, oneIn: 1, newVersions: [], youngAlerts: [] }
  return [
    { ...about, at: now - 8 * HOUR_MS - 12_345, lengthMs: 8 * HOUR_MS },
    { ...about, at: now - 30 * HOUR_MS, lengthMs: 12 * HOUR_MS, newVersions: [2, 3, 3.5], youngAlerts: ['alr_1'] },
  ]
}

const counted = ({ domainId }: ReadOptions) =>
  history.events.filter((event) => event.domainId === domainId && event.env === 'prod' && event.kind !== 'library')
const within = ({ at, lengthMs }: ChangeWindow, events: readonly StoredEvent[]) =>
  events.filter(({ receivedAt }) => receivedAt >= at - lengthMs && receivedAt < at + lengthMs)
const unitOf = ({ sessionId, customerId, id, seq }: StoredEvent) => sessionId || customerId || id || `evt_${seq}`

function sideOf({ at, newVersions }: ReadOptions, { receivedAt, version }: StoredEvent): string {
  if (receivedAt < at) return 'before'
  if (newVersions.length === 0 || version === null) return 'after'
  return newVersions.includes(version) ? 'new' : 'old'
}

const sum = (events: readonly StoredEvent[], test: (event: StoredEvent) => boolean = () => true) =>
  events.reduce((total, event) => total + (test(event) ? event.weight : 0), 0)
const isFailed = ({ status }: StoredEvent) => ['failure', 'exception', 'timeout'].includes(status ?? '')
const isViolated =
  ({ youngAlerts }: ReadOptions) =>
  (event: StoredEvent) =>
    event.violations !== null && !youngAlerts.some((id) => event.violations?.includes(id))

function ratesOf(reading: ReadOptions, units: readonly (readonly StoredEvent[])[]) {
  const events = units.flat()
  return {
    weight: sum(events),
    events: events.length,
    weightSquares: units.reduce((total, own) => total + (sum(own) ** 2 * Math.min(50, own.length)) / own.length, 0),
    known: sum(events, ({ status }) => status !== null),
    failed: sum(events, isFailed),
    violated: sum(events, isViolated(reading)),
  }
}

function keySums(events: readonly StoredEvent[], keys: readonly string[]): Row {
  const has = (key: string, test: (value: string) => boolean) => (event: StoredEvent) =>
    Object.hasOwn(event.params, key) && test(event.params[key] ?? '')
  return Object.fromEntries(
    keys.flatMap((key, at) => [
      [
        `w${at}`,
        sum(
          events,
          has(key, (value) => !isBlank(value)),
        ),
      ],
      [
        `n${at}`,
        sum(
          events,
          has(key, (value) => readNumber(value) !== null),
        ),
      ],
      [
        `b${at}`,
        sum(
          events,
          has(key, (value) => value === 'true' || value === 'false'),
        ),
      ],
    ]),
  )
}

const groups = (events: readonly StoredEvent[], key: (event: StoredEvent) => (string | number | null)[]) =>
  [...Map.groupBy(events, (event) => JSON.stringify(key(event)))].map(([name, own]) => ({
    parts: JSON.parse(name) as (string | number | null)[],
    own,
  }))

/** Returns the 20 most frequent parameter keys. */
function someKeys(): string[] {
  const counts = new Map<string, number>()
  for (const { params } of history.events) for (const key in params) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 20)
    .map(([key]) => key)
}

/** Returns every second name in alphabetical order; all names if there is only one. */
function someNames(events: readonly StoredEvent[]): string[] {
  const names = [...new Set(events.map(({ event }) => event))].sort()
  return names.length < 2 ? names : names.filter((_, at) => at % 2 === 0)
}

async function compareAll(): Promise<void> {
  for (const reading of readings()) {
    const all = counted(reading)
    const events = within(reading, all)
    await expectRows(
      versionsQuery(reading),
      groups(events, (event) => [event.version, event.receivedAt < reading.at ? 'before' : 'after']).map(
        ({ parts: [version = null, side = null], own }) => ({ version, side, events: own.length, weight: sum(own) }),
      ),
    )
    await expectRows(sessionsQuery(changeSides(reading)), sessionRows(reading, events))
    const keys = someKeys()
    await expectRows(
      keysQuery(changeSides(reading), { keys, events: someNames(events) }),
      groups(
        events.filter(({ event }) => someNames(events).includes(event)),
        (event) => [event.vendor, event.event, sideOf(reading, event)],
      ).flatMap(({ parts: [vendor = '', event = '', side = ''], own }) =>
        keys.flatMap((key) => {
          const { w0: weight = 0, n0: numbers = 0, b0: booleans = 0 } = keySums(own, [key])
          return weight === 0 ? [] : [{ vendor, event, side, key, weight, numbers, booleans }]
        }),
      ),
    )
    await expectRows(earlierPeriodsQuery(reading, { vendors: [], events: [], keys }), pastRows(reading, all, keys))
    await expectRows(volumesQuery(reading), volumeRows(reading, all))
  }
}

function sessionRows(reading: ReadOptions, events: readonly StoredEvent[]): Row[] {
  const { at, lengthMs, newVersions } = reading
  const starts = new Map<string, number>()
  for (const event of events)
    starts.set(unitOf(event), Math.min(starts.get(unitOf(event)) ?? event.receivedAt, event.receivedAt))
  const blockOf = (event: StoredEvent) => {
    const start = starts.get(unitOf(event)) ?? 0
    if (newVersions.length === 0) return 0
    return start < at ? -1 : Math.floor((start - at) / Math.ceil(lengthMs / 6))
  }
  const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const firsts = new Map<string, StoredEvent>()
  for (const event of events) {
    const key = JSON.stringify([sideOf(reading, event), unitOf(event)])
    const known = firsts.get(key)
    const order = known ? compare(event.vendor, known.vendor) || compare(event.event, known.event) : -1
    if (order < 0) firsts.set(key, event)
  }
  return groups(events, (event) => [event.vendor, event.event, sideOf(reading, event), blockOf(event)]).map(
    ({ parts: [vendor = '', event = '', side = '', block = 0], own }) => {
      const units = [...Map.groupBy(own, unitOf).values()]
      const isFirst = ([one]: readonly StoredEvent[]) => {
        const first = one && firsts.get(JSON.stringify([side, unitOf(one)]))
        return first?.vendor === vendor && first.event === event
      }
      const { weight, events, ...rates } = ratesOf(reading, units)
      return {
        vendor,
        event,
        side,
        block,
        sessions: units.length,
        firsts: units.filter(isFirst).length,
        events,
        weight,
        squares: units.reduce((total, unit) => total + unit.length * Math.min(50, unit.length), 0),
        ...rates,
      }
    },
  )
}

/**
 * Returns the number of days before the change and the side (before or after); null for an instant outside the compared
 * periods.
 */
function lagOf(window: ChangeWindow, instant: number): { lag: number; side: string } | null {
  for (let lag = 0; lag <= maxDaysBack(window); lag += lagDays(window)) {
    const middle = window.at - lag * DAY_MS
    if (instant >= middle - window.lengthMs && instant < middle + window.lengthMs)
      return { lag, side: instant < middle ? 'before' : 'after' }
  }
  return null
}

function pastRows(reading: ReadOptions, all: readonly StoredEvent[], keys: readonly string[]): Row[] {
  const past = all.filter(({ receivedAt }) => (lagOf(reading, receivedAt)?.lag ?? 0) > 0)
  return groups(past, ({ vendor, event, receivedAt }) => {
    const { lag = 0, side = '' } = lagOf(reading, receivedAt) ?? {}
    return [vendor, event, lag, side]
  }).map(({ parts: [vendor = '', event = '', lag = 0, side = ''], own }) => ({
    vendor,
    event,
    lag,
    side,
    ...ratesOf(reading, [...Map.groupBy(own, unitOf).values()]),
    ...keySums(own, keys),
  }))
}

function volumeRows(reading: ReadOptions, all: readonly StoredEvent[]): Row[] {
  const at = reading.at - (reading.at % MINUTE_MS)
  const minute = ({ receivedAt }: StoredEvent) => receivedAt - (receivedAt % MINUTE_MS)
  const lag = (event: StoredEvent) => lagOf({ ...reading, at }, minute(event))
  const past = all.filter((event) => (lag(event)?.lag ?? 0) > 0)
  return groups(past, (event) => [event.vendor, event.event, lag(event)?.lag ?? 0, lag(event)?.side ?? '']).map(
    ({ parts: [vendor = '', event = '', days = 0, side = ''], own }) => ({
      vendor,
      event,
      lag: days,
      side,
      events: own.length,
      weight: sum(own),
    }),
  )
}

test('query results equal plain counts of the events, before and after compaction', async () => {
  expect(history.events.length).toBeGreaterThanOrEqual(20_000)
  await compareAll()
  const { fixture, now } = history
  await fixture.flush()
  await fixture.compact(now + 2 * HOUR_MS)
  await fixture.compactCounts(now + 2 * HOUR_MS)
  await compareAll()
})

test('sessions that report a consent choice are counted once', async () => {
  const [first] = readings()
  if (!first) throw new Error('expected a reading')
  const reading = { ...first, at: history.now - 24 * HOUR_MS, lengthMs: 24 * HOUR_MS }
  const key = 'consent.ad_storage'
  const said = within(reading, counted(reading)).filter(({ params }) =>
    ['granted', 'denied'].includes(params[key] ?? ''),
  )
  const rows = groups(said, (event) => [event.vendor, sideOf(reading, event)]).map(
    ({ parts: [vendor = '', side = ''], own }) => {
      const units = [...Map.groupBy(own, unitOf).values()]
      const granted = units.filter((unit) => unit.some(({ params }) => params[key] === 'granted')).length
      return { vendor, side, granted, denied: units.length - granted }
    },
  )
  await expectRows(consentQuery(changeSides(reading), key), rows)
})
