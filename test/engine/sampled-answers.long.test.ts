import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { alertOf } from '../../src/alerts/alert.fixture.ts'
import { parsePeriod } from '../../src/alerts/alert-period.ts'
import { wholeWindows } from '../../src/alerts/alert-windows.ts'
import { dataValidation } from '../../src/alerts/types/data-validation/data-validation.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { randomOf } from '../../src/detector/series.fixture.ts'
import { eventDictionary } from '../../src/insights/event-dictionary.ts'
import { flatDictionary } from '../../src/insights/flat-dictionary.ts'
import type { Caller, Sources } from '../../src/insights/insight.ts'
import { keyFacts } from '../../src/insights/parameter-key-facts.ts'
import { sessionFlows } from '../../src/insights/session-flows.ts'
import { SeriesMonitor } from '../../src/signals/series-monitor.ts'
import { ClickhouseHistory } from '../../src/warehouse/clickhouse/clickhouse-history.ts'
import { EVENT_UNIT } from '../../src/warehouse/dialect.ts'
import { query } from '../../src/warehouse/query.ts'
import { type EventFields, HOUR, WarehouseFixture } from '../../src/warehouse/warehouse.fixture.ts'
import type { History } from '../../src/warehouse/warehouse.ts'
import { cast } from '../fixtures.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'
import { insertAll } from './engine-fixture.ts'

/*
 * Each domain has its own sessions, so its answer is based on an independent sample. All answers are compared with
 * those from all events of the domain.
 */

const problem = clickhouseProblem()
const DOMAINS = 24
const SESSIONS = 600
const ONE_IN = 8
const SHOP = 'Shop API'

/** Generates sessions of 1 to 34 events. Keys and values depend on the session, on its length or on the event. */
function sessionsOf(domain: number): EventFields[] {
  const random = randomOf(domain + 1)
  return Array.from({ length: SESSIONS }, (_, n) => {
    const length = Math.ceil(Math.exp(random() * random() * 3.5))
    const browser = ['Chrome', 'Chrome', 'Chrome', 'Safari', 'Firefox'][Math.floor(random() * 5)] ?? ''
    const isBuyer = random() < 0.2
    const vendor = random() < 0.8 ? SHOP : 'Ads'
    const sessionId = n % 10 === 0 ? null : `${domain}-${n}`
    return Array.from({ length }, (_, at): EventFields => {
      const params = {
        browser,
        ...(random() < 0.5 && { item: String(Math.floor(random() * 8)) }),
        ...(length > 12 && { long: 'yes' }),
        ...(isBuyer && at === 0 && { order: `${domain}/${n}` }),
      }
      const path = at === 0 ? '/' : `/page-${'abcdef'[Math.floor(random() * 6)]}`
      return { sessionId, vendor, event: at === 0 ? 'page_view' : 'click', path, ts: HOUR + at, params }
    })
  }).flat()
}

interface World {
  fixture: WarehouseFixture
  server: ClickhouseServer | null
  clickhouse: ClickhouseHistory | null
  orgId: string
  domainIds: readonly string[]
  caller: Caller
  sources(history: History, maxEventsRead: number): Sources
}

async function openWorld(): Promise<World> {
  const fixture = await WarehouseFixture.open()
  const { db, clock } = fixture
  const { alice } = cast(db, clock)
  const { orgId, userId } = alice
  const domainIds = Array.from({ length: DOMAINS }, (_, n) => `dom_${n}`)
  clock.set(HOUR)
  for (const [n, domainId] of domainIds.entries()) {
    clock.advance(1000)
    await fixture.add(sessionsOf(n).map((event) => ({ ...event, orgId, domainId })))
    if (n === DOMAINS / 2) {
      await fixture.flush()
      await fixture.compact(clock.now() + MINUTE_MS)
    }
  }
  await fixture.flush()
  const now = clock.now() + MINUTE_MS
  const server = problem === null ? (await ClickhouseServer.open())[0] : undefined
  if (server) await insertAll(server.client, fixture.events, [])
  const report = (error: unknown) => console.error(error)
  return {
    fixture,
    server: server ?? null,
    clickhouse: server ? new ClickhouseHistory({ client: server.client, clock, report }) : null,
    orgId,
    domainIds,
    caller: {
      now,
      principal: { via: 'key', userId, orgId, role: 'owner', readOnly: false, keyId: null, sessionId: null },
    },
    sources(history, maxEventsRead) {
      const seriesMonitor = new SeriesMonitor({ warehouse: history, gapsOf: () => [], settingsOf: () => [] })
      return {
        db,
        seriesMonitor,
        history,
        maxEventsRead,
        watermark: () => now,
        retentionMs: 90 * DAY_MS,
        domains: () => domainIds.map((id) => ({ id, createdAt: 0 })),
        privacy: () => PLAIN_PRIVACY,
        chart: () => Promise.reject(new Error('no series is available')),
      }
    },
  }
}

type Numbers = Map<string, { value: number; interval?: { low: number; high: number } | undefined }>

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  await world?.server?.[Symbol.asyncDispose]()
  await world?.fixture[Symbol.asyncDispose]()
})

/** Returns all estimated numbers of a domain by kind and name. */
async function numbersOf(sources: Sources, domainId: string): Promise<Numbers> {
  const { caller } = world
  const numbers: Numbers = new Map()
  const dictionary = await eventDictionary.answer(sources, { domainId }, caller)
  for (const { vendor, events, interval, keys } of dictionary.vendors) {
    numbers.set(`events ${vendor}`, { value: events, interval })
    for (const { key, presencePct, interval } of keys) {
      numbers.set(`presence ${vendor} ${key}`, { value: presencePct, interval })
    }
  }
  const flat = await flatDictionary.answer(sources, { domainId }, caller)
  for (const { vendor, event, key, count, interval, values } of flat.rows) {
    numbers.set(`count ${vendor} ${event} ${key}`, { value: count, interval })
    if (key === 'order') continue
    for (const { value, count, interval } of values) {
      numbers.set(`value ${vendor} ${event} ${key} ${value}`, { value: count, interval })
    }
  }
  const flows = await sessionFlows.answer(sources, { domainId, maxSteps: 3 }, caller)
  for (const { index, nodes } of flows.steps) {
    for (const { path, sessions, interval, vendors } of nodes) {
      numbers.set(`node ${index} ${path}`, { value: sessions, interval })
      for (const { vendor, event, count, interval } of vendors) {
        numbers.set(`fired ${index} ${path} ${vendor} ${event}`, { value: count, interval })
      }
    }
  }
  for (const { fromStep, fromPath, toPath, sessions, interval } of flows.links) {
    numbers.set(`link ${fromStep} ${fromPath} ${toPath}`, { value: sessions, interval })
  }
  expect([dictionary.sampling?.oneIn, flat.sampling?.oneIn, flows.sampling?.oneIn].every((n) => n !== 1)).toBe(true)
  return numbers
}

const engines = ['DuckDB', ...(problem === null ? ['ClickHouse'] : [])] as const
const historyOf = (engine: string): History => {
  const { clickhouse, fixture } = world
  return engine === 'DuckDB' || !clickhouse ? fixture.warehouse : clickhouse
}

/** Returns the drawn sessions and events without a session, with their number of events; all of them for null. */
function drawn(engine: string, oneIn: number | null) {
  return historyOf(engine).query<{ unit: string; sessionId: string | null; events: number }>(
    query('test.drawn', {
      orgId: world.orgId,
      window: { from: HOUR, to: world.caller.now },
      write: ({ dialect }) => ({
        sql: `SELECT concat(domainId, ' ', coalesce(sessionId, id)) AS unit, max(sessionId) AS sessionId, count(*) AS events
          FROM events WHERE ${oneIn === null ? 'true' : dialect.sampled(EVENT_UNIT, oneIn)} GROUP BY unit`,
      }),
    }),
  )
}

describe.each(engines)('samples in %s', (engine) => {
  test('the intervals contain the true numbers about as often as stated', async () => {
    const covered = new Map<string, { all: number; inside: number; naive: number }>()
    const bias = new Map<string, { estimate: number; truth: number }>()
    for (const domainId of world.domainIds) {
      const events = world.fixture.events.filter((event) => event.domainId === domainId).length
      const truth = await numbersOf(world.sources(world.fixture.warehouse, Number.POSITIVE_INFINITY), domainId)
      const sampled = await numbersOf(world.sources(historyOf(engine), Math.ceil(events / ONE_IN)), domainId)
      for (const [name, { value }] of truth) {
        const kind = name.split(' ')[0] ?? ''
        const found = sampled.get(name)
        const sums = bias.get(kind) ?? { estimate: 0, truth: 0 }
        bias.set(kind, { estimate: sums.estimate + (found?.value ?? 0), truth: sums.truth + value })
        // Rarer numbers may be missing, so the intervals of those that are present are biased.
        if (kind !== 'presence' && value < 24 * 3) continue
        const counts = covered.get(kind) ?? { all: 0, inside: 0, naive: 0 }
        counts.all++
        const { low, high } = found?.interval ?? { low: 0, high: 0 }
        if (low <= value && value <= high) counts.inside++
        // The interval if all events were independent.
        const error = 1.96 * Math.sqrt((found?.value ?? 0) * (ONE_IN - 1))
        if (Math.abs((found?.value ?? 0) - value) <= error) counts.naive++
        covered.set(kind, counts)
      }
    }
    const rates = [...covered].map(([kind, { all, inside, naive }]) => ({
      kind,
      all,
      rate: inside / all,
      naive: naive / all,
    }))
    // A rate of 95 % among 48 numbers has a standard deviation of 3 %, and numbers of a domain depend on each other.
    expect(rates.filter(({ rate }) => rate < 0.87)).toEqual([])
    const total = rates.reduce((sum, { all }) => sum + all, 0)
    const overall = rates.reduce((sum, { all, rate }) => sum + all * rate, 0) / total
    expect(overall).toBeGreaterThan(0.93)
    expect(overall).toBeLessThan(0.985)
    // Intervals that ignore sessions are too narrow.
    expect(rates.find(({ kind }) => kind === 'events')?.naive).toBeLessThan(0.8)
    for (const [kind, { estimate, truth }] of bias) {
      if (kind === 'presence') continue
      expect([kind, Math.abs(estimate / truth - 1) < 0.05]).toEqual([kind, true])
    }
  })

  test('whole sessions are drawn, a smaller sample is part of a larger one, and other events are drawn one by one', async () => {
    const all = new Map((await drawn(engine, null)).map((row) => [row.unit, row.events]))
    let larger = new Set(all.keys())
    for (const oneIn of [2, 3, 8, 64]) {
      const rows = await drawn(engine, oneIn)
      for (const { unit, events } of rows) expect([unit, events]).toEqual([unit, all.get(unit) ?? 0])
      const sessions = rows.filter(({ sessionId }) => sessionId !== null).length
      const others = rows.length - sessions
      expect(Math.abs((sessions * oneIn) / (DOMAINS * SESSIONS * 0.9) - 1)).toBeLessThan(0.2)
      const alone = world.fixture.events.filter(({ sessionId }) => sessionId === null).length
      expect(Math.abs((others * oneIn) / alone - 1)).toBeLessThan(0.25)
      if (oneIn !== 3) {
        expect(rows.every(({ unit }) => larger.has(unit))).toBe(true)
        larger = new Set(rows.map(({ unit }) => unit))
      }
    }
  })

  test('past violations are those of the drawn sessions', async () => {
    const rule = alertOf(
      {
        name: 'A',
        alertType: 'data_validation',
        period: '1h',
        channels: [],
        conditions: { logic: 'any', items: [{ parameter: 'item', op: 'is_blank' }] },
      },
      'alr_1',
      world.orgId,
    )
    const windows = wholeWindows(parsePeriod('1h'), 'UTC', HOUR, HOUR + HOUR_MS)
    const past = dataValidation.history.query(rule, windows, { regions: [], oneIn: ONE_IN })
    const rows = past.rowsOf(await historyOf(engine).query<never>(past.query)).flat()
    const units = new Set((await drawn(engine, ONE_IN)).map(({ unit }) => unit))
    const blank = world.fixture.events.filter(
      ({ domainId, sessionId, id, params }) => params.item === undefined && units.has(`${domainId} ${sessionId ?? id}`),
    )
    expect(rows.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(ONE_IN * blank.length)
  })

  test('suggestions examine only the drawn sessions, and all of their events', async () => {
    const window = { from: world.caller.now - DAY_MS, to: world.caller.now }
    const all = await keyFacts(world.sources(historyOf(engine), 1e9), world.orgId, world.domainIds, window)
    const most = world.fixture.events.length / 4
    const sample = await keyFacts(world.sources(historyOf(engine), most), world.orgId, world.domainIds, window)
    expect([all.oneIn, sample.oneIn]).toEqual([1, 4])
    expect(sample.facts.length).toBeGreaterThan(0)
    const events = (facts: typeof all.facts) => facts.reduce((sum, one) => sum + one.events, 0)
    const both = all.facts.filter((one) => sample.facts.some((other) => isSame(one, other)))
    expect(Math.abs((events(sample.facts) * 4) / events(both) - 1)).toBeLessThan(0.2)
  })
})

const isSame = (one: object, other: object) =>
  (['domainId', 'vendor', 'event', 'key'] as const).every(
    (field) => (one as Record<string, unknown>)[field] === (other as Record<string, unknown>)[field],
  )

test('an answer says what was read and what it may lack', async () => {
  const [domainId = ''] = world.domainIds
  const events = world.fixture.events.filter((event) => event.domainId === domainId)
  const sources = world.sources(world.fixture.warehouse, Math.ceil(events.length / ONE_IN))
  const { sampledEvents, sampling, vendors } = await eventDictionary.answer(sources, { domainId }, world.caller)
  expect(sampling).toMatchObject({ oneIn: 8, detectableSessions: 23 })
  expect(sampledEvents).toBeLessThan(events.length / 4)
  expect(vendors.reduce((sum, vendor) => sum + vendor.events, 0)).toBe(8 * sampledEvents)
  const whole = await eventDictionary.answer({ ...sources, maxEventsRead: events.length }, { domainId }, world.caller)
  expect([whole.sampling, whole.sampledEvents]).toEqual([null, events.length])
  expect(JSON.stringify(whole)).not.toContain('interval')
  const asked = await eventDictionary.answer({ ...sources, maxEventsRead: 1e9 }, { domainId, oneIn: 8 }, world.caller)
  expect(asked.sampledEvents).toBe(sampledEvents)
  const odd = eventDictionary.answer(sources, { domainId, oneIn: 3 }, world.caller)
  expect(odd).rejects.toThrow('query.oneIn: must be a power of two')
})
