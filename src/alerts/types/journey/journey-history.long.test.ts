import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Condition } from '../../../conditions/condition.ts'
import { PLAIN_PRIVACY } from '../../../conditions/privacy-settings.ts'
import { HOUR_MS, MINUTE_MS } from '../../../core/clock.ts'
import { type EventFields, WarehouseFixture } from '../../../warehouse/warehouse.fixture.ts'
import { warehouseWith } from '../../alert.fixture.ts'
import type { Alert, AlertInput } from '../../alert.ts'
import { parsePeriod } from '../../alert-period.ts'
import { wholeWindows } from '../../alert-windows.ts'
import type { Finding, Window } from '../../finding.ts'
import { judgeHistory } from '../../judge-past-events.ts'
import {
  arrived,
  aSpec,
  bad,
  equal,
  journeyAlert,
  membersOf,
  sessionOf,
  thanks,
  visits,
  walkAll,
} from './journey.fixture.ts'
import { journey } from './journey.ts'
import { endedSessions, expectedOf } from './journey-reference.fixture.ts'
import type { ShapeRow } from './journey-sql.ts'

const DOMAINS = ['dom_a', 'dom_b']
const watched = DOMAINS.map((id) => ({ id, createdAt: 0 }))
/** Evenings. In the night after the second, clocks change in Berlin; after the third, in New York. */
const EVENINGS = ['2026-01-05T20:00Z', '2026-03-28T20:00Z', '2026-11-01T02:00Z'].map((at) => Date.parse(at))
const REACH_MS = 30 * HOUR_MS

const anAlert = fc.record({
  spec: aSpec,
  filters: fc.constantFrom<Condition[]>([], [], [], [equal('k', '1')], [equal('*', '2'), equal('$vendor', 'a')]),
  scope: fc.constantFrom<Partial<AlertInput>>({}, {}, { domainId: 'dom_a' }, { domainIds: ['dom_b', 'dom_c'] }),
})
const aWork = fc.constantFrom('nothing', 'nothing', 'nothing', 'flush', 'merge', 'compact')
const someTraffic = fc.array(
  fc.record({
    // Pauses: mostly within a session, sometimes just under or over its maximum gap, sometimes overnight.
    afterMs: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 12 * MINUTE_MS }) },
      { weight: 2, arbitrary: fc.constantFrom(29, 30, 31).map((minutes) => minutes * MINUTE_MS) },
      { weight: 1, arbitrary: fc.constantFrom(2 * HOUR_MS, 9 * HOUR_MS) },
    ),
    // File operations between batches.
    work: aWork,
    events: fc.array(
      fc.record({
        domainId: fc.constantFrom(...DOMAINS),
        sessionId: fc.constantFrom('s', 't', 'u', null),
        vendor: fc.constantFrom('a', 'a', 'b', 'c'),
        event: fc.constantFrom('x', 'y', 'z'),
        path: fc.constantFrom(null, '/', '/a', '/a/b'),
        params: fc.constantFrom<Record<string, string>>({}, { k: '1' }, { k: '2', l: '1' }),
        host: fc.constantFrom('h.example', 'i.example'),
        weight: fc.constantFrom(1, 1, 4, 1 / 0.3),
        lateMs: fc.constantFrom(0, 0, 0, MINUTE_MS, 20 * MINUTE_MS),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { minLength: 30, maxLength: 60 },
)

interface Sent {
  afterMs: number
  work: 'nothing' | 'flush' | 'merge' | 'compact'
  events: (EventFields & { lateMs: number })[]
}

async function receive(fixture: WarehouseFixture, sent: readonly Sent[]): Promise<void> {
  for (const { afterMs, work, events } of sent) {
    fixture.clock.advance(afterMs)
    const now = fixture.clock.now()
    await fixture.add(events.map(({ lateMs, ...values }) => ({ orgId: 'org_a', ts: now - lateMs, ...values })))
    if (work === 'nothing') continue
    await fixture.flush()
    if (work === 'merge') await fixture.merge()
    if (work === 'compact') await fixture.compact()
  }
}

/** Returns the findings for these windows, queried in parts of this size. */
async function inParts(fixture: WarehouseFixture, alert: Alert, windows: readonly Window[], size: number) {
  const findings: Finding[][] = []
  for (let first = 0; first < windows.length; first += size) {
    const past = journey.history.query(alert, windows.slice(first, first + size), { regions: [], oneIn: 1 }, membersOf)
    const answer = await fixture.warehouse.query<never>(past.query)
    expect(past.isComplete(answer)).toBe(true)
    findings.push(...past.rowsOf(answer).map((rows) => journey.judge(alert, rows)))
  }
  return findings
}

const brief = (findings: readonly Finding[]) =>
  findings.map(({ domainId, occurrences, hosts, lastAt, firstAt }) => ({
    domainId,
    count: occurrences,
    hosts: hosts.toSorted(),
    lastAt,
    firstAt,
  }))

test('evaluating many windows at once returns the same findings as the scheduler and the reference', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(anAlert, { minLength: 2, maxLength: 4 }),
      someTraffic,
      fc.constantFrom(...EVENINGS),
      fc.constantFrom('30m', '90m', '5h', '1d'),
      fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'),
      fc.integer({ min: 1, max: 7 }),
      async (rules, sent, evening, period, timezone, size) => {
        await using fixture = await WarehouseFixture.open()
        fixture.clock.set(evening)
        await receive(fixture, sent)
        fixture.clock.advance(HOUR_MS)
        const now = fixture.clock.now()
        const [first, ...others] = rules.map(({ spec, filters, scope }, index) =>
          journeyAlert(spec, { filters, ...scope, period, timezone }, `alr_${index}`),
        )
        if (!first) return
        const alerts: [Alert, ...Alert[]] = [first, ...others]
        const windows = wholeWindows(parsePeriod(period), timezone, now - REACH_MS, now)
        const scheduled: Record<string, Finding[]>[] = []
        for (const window of windows) scheduled.push(await walkAll(fixture.warehouse, alerts, window))
        for (const alert of alerts) {
          const found = await inParts(fixture, alert, windows, windows.length || 1)
          expect(found).toEqual(scheduled.map((findings) => findings[alert.id] ?? []))
          expect(await inParts(fixture, alert, windows, size)).toEqual(found)
          const expected = windows.map((window) =>
            expectedOf(alert, endedSessions(fixture.events, window), DOMAINS, seen),
          )
          expect(found.map(brief)).toEqual(expected)
        }
      },
    ),
    { numRuns: 6 },
  )
  expect(seen).toEqual(new Set(['unreached', 'fine', 'violated']))
})

test('all sessions of each sampled sender are read, and are weighted to represent other senders', async () => {
  const sessions = visits(Array.from({ length: 400 }, (_, n) => (n % 2 ? bad : 'ga4.page_view@/')))
  const again = visits(Array.from({ length: 400 }, () => bad)).map((events) =>
    events.map((event) => ({ ...event, receivedAt: event.receivedAt - 40 * MINUTE_MS })),
  )
  using history = await warehouseWith(arrived([...again, ...sessions]))
  const alert = journeyAlert(thanks)
  const window = { from: Date.UTC(2026, 3, 1, 10), to: Date.UTC(2026, 3, 1, 12), complete: true }
  const ask = async (oneIn: number) => {
    const past = journey.history.query(alert, [window], { regions: [], oneIn })
    const [rows = []] = past.rowsOf(await history.query<never>(past.query))
    return journey.judge(alert, rows)[0]?.occurrences ?? 0
  }
  expect(await ask(1)).toBe(600)
  const sampled = await ask(4)
  expect(sampled % 4).toBe(0)
  expect(sampled).toBeGreaterThan(400)
  expect(sampled).toBeLessThan(800)
})

test("events of any vendor are in scope, regardless of the rule's vendors", async () => {
  using history = await warehouseWith(arrived([sessionOf(bad)]))
  const windows = wholeWindows(parsePeriod('1h'), 'UTC', Date.UTC(2026, 3, 1, 9), Date.UTC(2026, 3, 1, 12))
  const parts = { warehouse: history, domains: watched, privacy: PLAIN_PRIVACY }
  const { findings, method, exact } = await judgeHistory(journeyAlert(thanks, { vendors: ['meta'] }), windows, parts)
  expect(findings.map((of) => of.length)).toEqual([0, 0, 1])
  expect([method, exact]).toEqual(['sql', true])
})

test('exceeding the limit of session shapes makes the result incomplete', () => {
  const past = journey.history.query(
    journeyAlert(thanks),
    [0, 1].map((n) => ({ from: n, to: n + 1, complete: true })),
    {
      regions: [],
      oneIn: 1,
    },
  )
  const row: Partial<ShapeRow> = { alertId: 'alr_1', windowIndex: 1 }
  const answer = (count: number) => Array.from({ length: count }, () => row) as unknown as never[]
  expect(past.isComplete(answer(9999))).toBe(true)
  expect(past.isComplete(answer(10_000))).toBe(false)
  expect(past.rowsOf(answer(3)).map((rows) => rows.length)).toEqual([0, 3])
})
