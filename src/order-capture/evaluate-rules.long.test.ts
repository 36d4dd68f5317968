import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { cast } from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import type { NotificationRequest } from '../issues/issue.ts'
import { issueValueOf } from '../issues/issue-value.ts'
import { issueFacts } from '../issues/store.ts'
import { saveOrders } from '../orders/store.ts'
import { openDatabase } from '../store/database.ts'
import { WarehouseFixture, type WarehouseSnapshot } from '../warehouse/warehouse.fixture.ts'
import { type CaptureRule, withDefaults } from './capture-rule.ts'
import { evaluateCaptureRules } from './evaluate-rules.ts'
import { replaceRules, rulesOf } from './store.ts'

const VENDOR = 'Google Analytics 4'
const STEP_MS = 10 * MINUTE_MS
const PER_STEP = 25
const HISTORY_DAYS = 8

/** How the tag reports an order; null: not at all. */
type Reports = { value: number }[] | null

/** A shop with 150 orders an hour, whose tag reports every order correctly unless a test says otherwise. */
class Shop {
  readonly notices: NotificationRequest[] = []
  readonly errors: unknown[] = []
  /** Settable: called before a notice is recorded. */
  beforeNotice = () => {}
  private count: number

  constructor(
    readonly fixture: WarehouseFixture,
    readonly orgId: string,
    readonly domainId: string,
    count = 0,
  ) {
    this.count = count
  }

  get orders() {
    return this.count
  }

  /** Lets time pass. `report`: how the tag reports the n-th order of this time; `posts`: whether the shop posts it. */
  async pass(
    ms: number,
    report: (n: number) => Reports | undefined = () => undefined,
    posts = true,
  ): Promise<string[]> {
    const { fixture, orgId, domainId } = this
    const missing: string[] = []
    const start = fixture.clock.now()
    let n = 0
    for (let at = start; at < start + ms; at += STEP_MS) {
      const orders = Array.from({ length: PER_STEP }, (_, nth) => ({
        id: `T-${this.count + nth}`,
        at: at + nth * 20_000,
        value: 20 + (nth % 5),
        currency: 'EUR',
      }))
      this.count += PER_STEP
      fixture.clock.set(at + STEP_MS)
      if (posts) saveOrders(fixture.db, { domainId, orders, now: fixture.clock.now() })
      const events = orders.flatMap(({ id, value }) => {
        const reports = report(n++)
        if (reports === null) missing.push(id)
        return (reports === undefined ? [{ value }] : (reports ?? [])).map((one) => ({
          orgId,
          domainId,
          vendor: VENDOR,
          event: 'purchase',
          params: { 'ep.transaction_id': id, 'epn.value': String(one.value) },
        }))
      })
      if (events.length > 0) await fixture.add(events)
      if (at % DAY_MS === 0) await fixture.flush()
    }
    return missing
  }

  async evaluate(): Promise<void> {
    const { db, clock, warehouse } = this.fixture
    await evaluateCaptureRules({
      db,
      clock,
      history: warehouse,
      retentionMs: 90 * DAY_MS,
      watermark: () => clock.now(),
      enqueue: (notice) => {
        this.beforeNotice()
        this.notices.push(notice)
      },
      report: (error) => this.errors.push(error),
    })
  }

  issues() {
    return this.fixture.db
      .prepare<[], { id: string; status: string; subject: string; title: string; impactValue: number | null }>(
        'SELECT id, status, subject, title, impactValue FROM issue ORDER BY id',
      )
      .all()
  }

  evidence(id: string | undefined) {
    return issueFacts(this.fixture.db, id ?? '')?.issue.evidence ?? null
  }

  /** Evaluates every 10 minutes while time passes. Returns the time after which the first issue was opened. */
  async watch(ms: number, report?: (n: number) => Reports | undefined, posts = true): Promise<Instant | null> {
    const start = this.fixture.clock.now()
    let found: Instant | null = null
    let n = 0
    while (this.fixture.clock.now() < start + ms) {
      const from = n
      await this.pass(STEP_MS, report && ((nth) => report(from + nth)), posts)
      n += PER_STEP
      await this.evaluate()
      if (found === null && this.issues().some(({ status }) => status === 'open')) {
        found = this.fixture.clock.now() - start
      }
    }
    return found
  }
}

let image: WarehouseSnapshot
let base: Shop

beforeAll(async () => {
  const fixture = await WarehouseFixture.open()
  const { alice } = cast(fixture.db, fixture.clock)
  const domainId = createDomain(fixture.db, fixture.clock, alice.orgId, { name: 'Shop' })
  fixture.db.prepare(`UPDATE org SET currency = 'EUR' WHERE id = ?`).run(alice.orgId)
  base = new Shop(fixture, alice.orgId, domainId)
  await base.pass(HISTORY_DAYS * DAY_MS)
  await fixture.flush()
  image = fixture.snapshot()
}, 120_000)
afterAll(() => base.fixture[Symbol.asyncDispose]())

async function copy(rule: Partial<CaptureRule> = {}): Promise<Shop & AsyncDisposable> {
  const fixture = await WarehouseFixture.open({}, image)
  const { orgId, domainId } = base
  replaceRules(fixture.db, orgId, [{ ...withDefaults({ domainId, vendor: VENDOR }), ...rule, id: 'ocr_1' }])
  const shop = new Shop(fixture, orgId, domainId, base.orders)
  await shop.evaluate()
  return Object.assign(shop, { [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() })
}

/** Evaluates the rules once in a separate process. Returns the number of its steps; null if it was killed. */
async function evaluateInProcess(path: string, events: string, fatalStep: number): Promise<number | null> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'evaluate-process.fixture.ts'), path, events, String(fatalStep)],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const printed = await new Response(child.stdout).text()
  await child.exited
  if (child.signalCode === 'SIGKILL') return null
  expect(child.exitCode).toBe(0)
  return Number(printed)
}

/** The issues, counts and progress in a database file. */
function recordOf(path: string) {
  const db = openDatabase(path)
  try {
    const all = (sql: string) => db.prepare<[], Record<string, unknown>>(sql).all()
    return {
      issues: all(
        `SELECT subject, status, title, evidence,
           (SELECT count(*) FROM issueHistory WHERE issueId = issue.id AND kind = 'opened') AS opened,
           (SELECT count(*) FROM delivery WHERE issueId = issue.id) AS deliveries
         FROM issue`,
      ),
      counts: all('SELECT * FROM orderCaptureCount ORDER BY startAt'),
      progress: all('SELECT countedTo, state FROM orderCaptureRule'),
    }
  } finally {
    db.close()
  }
}

describe('an order capture rule', () => {
  test('learns the history of a new rule at once, and opens no issue for it', async () => {
    await using shop = await copy()
    expect(shop.errors).toEqual([])
    const [rule] = rulesOf(shop.fixture.db, shop.orgId)
    expect(rule?.state.usual?.share).toBe(0)
    const stored = shop.fixture.db
      .prepare<[], { orders: number; captured: number; rows: number }>(
        'SELECT sum(orders) AS orders, sum(captured) AS captured, count(*) AS rows FROM orderCaptureCount',
      )
      .get()
    // Orders of the last hour have not settled.
    expect([stored?.orders, stored?.captured]).toEqual([28_650, 28_650])
    expect(stored?.rows).toBeLessThan(HISTORY_DAYS * 24 * 6)
    expect(shop.issues()).toEqual([])
  })

  test('reports a loss of 10 % once within two settling times, with its share, orders and value', async () => {
    await using shop = await copy()
    const found = await shop.watch(2 * HOUR_MS, (n) => (n % 10 === 0 ? null : undefined))
    expect(found).not.toBeNull()
    await shop.watch(4 * HOUR_MS, (n) => (n % 10 === 0 ? null : undefined))
    const issues = shop.issues()
    expect(issues).toHaveLength(1)
    expect(shop.notices).toHaveLength(1)
    const loss = shop.evidence(issues[0]?.id)?.orderCapture
    expect(Math.abs((loss?.capturePct ?? 0) - 90)).toBeLessThanOrEqual(1)
    expect(loss?.usualPct).toBe(100)
    const start = image.now
    const lost = shop.fixture.db
      .prepare<[number, number], { id: string; value: number }>(
        'SELECT id, value FROM shopOrder WHERE at >= ? AND at < ? ORDER BY at DESC',
      )
      .all(start, shop.fixture.clock.now() - HOUR_MS)
      .filter(({ id }) => (Number(id.slice(2)) - base.orders) % 10 === 0)
    expect(lost.length).toBeGreaterThan(50)
    const value = lost.reduce((sum, order) => sum + order.value, 0)
    expect(loss?.missingValue).toBeCloseTo(value, 2)
    expect(loss?.missingValuePerHour).toBeCloseTo(value / 5, 0)
    expect(loss?.missingOrders).toEqual(lost.slice(0, 20).map(({ id }) => id))
    expect(issues[0]?.title).toStartWith('Orders in Google Analytics 4: 90 % of orders captured, usually 100 %; ')
    expect(issues[0]?.impactValue).toBe(Math.round(value))
    expect(issueValueOf(shop.fixture.db, shop.orgId, shop.fixture.clock.now()).openValue).toBe(Math.round(value))
    await shop.watch(4 * HOUR_MS)
    expect(shop.issues().map(({ status }) => status)).toEqual(['resolved'])
    expect(shop.errors).toEqual([])
  })

  test('opens a single issue when it is killed while an evaluation is stored', async () => {
    await using shop = await copy()
    let kills = 0
    shop.beforeNotice = () => {
      if (kills++ < 2) throw new Error('killed')
    }
    await shop.watch(3 * HOUR_MS, (n) => (n % 10 === 0 ? null : undefined))
    expect(shop.errors).toHaveLength(2)
    expect(shop.issues()).toHaveLength(1)
    expect(shop.notices).toHaveLength(1)
    const history = shop.fixture.db.prepare(`SELECT count(*) AS n FROM issueHistory WHERE kind = 'opened'`).get()
    expect(history).toEqual({ n: 1 })
  })

  test('opens a single issue when the process is killed at any point', async () => {
    await using shop = await copy({ minCapturePct: 95 })
    await shop.pass(2 * HOUR_MS, (n) => (n % 10 === 0 ? null : undefined))
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-'))
    try {
      const [fresh, events] = [join(folder, 'fresh.db'), join(folder, 'events')]
      writeFileSync(fresh, shop.fixture.db.serialize())
      writeFileSync(events, serialize(shop.fixture.snapshot()))
      const path = join(folder, 'shop.db')
      cpSync(fresh, path)
      const steps = (await evaluateInProcess(path, events, 0)) ?? 0
      const expected = recordOf(path)
      expect(expected.issues).toMatchObject([{ subject: 'missing', status: 'open', opened: 1, deliveries: 1 }])
      for (let fatalStep = 1; fatalStep <= steps; fatalStep++) {
        for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
        cpSync(fresh, path)
        expect([fatalStep, await evaluateInProcess(path, events, fatalStep)]).toEqual([fatalStep, null])
        await evaluateInProcess(path, events, 0)
        expect([fatalStep, recordOf(path)]).toEqual([fatalStep, expected])
      }
      expect(steps).toBeGreaterThan(8)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('reports orders that are reported repeatedly, above the accepted number', async () => {
    const twice = (n: number) => (n % 8 === 0 ? [{ value: 20 }, { value: 20 }] : undefined)
    await using shop = await copy()
    await shop.watch(3 * HOUR_MS, twice)
    expect(shop.issues().map(({ subject }) => subject)).toContain('duplicates')
    await using tolerant = await copy({ maxDuplicates: 10_000 })
    await tolerant.watch(3 * HOUR_MS, twice)
    expect(tolerant.issues().map(({ subject }) => subject)).not.toContain('duplicates')
  })

  test('reports values that differ from those of the shop', async () => {
    await using shop = await copy()
    await shop.watch(3 * HOUR_MS, (n) => [{ value: (20 + (n % 5)) * 1.19 }])
    const [issue, ...others] = shop.issues()
    expect(others).toEqual([])
    expect(issue).toMatchObject({ subject: 'values', status: 'open' })
    expect(issue?.title).toContain('differs by more than 1 %')
  })

  test('reports a share below the minimum, even if it is usual', async () => {
    await using shop = await copy({ minCapturePct: 95 })
    expect(shop.issues()).toEqual([])
    await shop.watch(2 * HOUR_MS, (n) => (n % 5 === 0 ? null : undefined))
    expect(shop.issues()[0]?.title).toContain('at least 95 %')
  })

  test('reports once that no orders arrive from the shop, and recovers', async () => {
    await using shop = await copy()
    await shop.watch(4 * HOUR_MS, undefined, false)
    const [issue, ...others] = shop.issues()
    expect(others).toEqual([])
    expect(issue?.title).toMatch(
      /^Orders of Shop: No orders have arrived from the shop since \d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC$/,
    )
    expect(shop.notices).toHaveLength(1)
    await shop.watch(2 * HOUR_MS)
    expect(shop.issues().map(({ subject, status }) => [subject, status])).toEqual([['feed', 'resolved']])
  })

  test('counts orders again that are posted late, changed or cancelled', async () => {
    await using shop = await copy()
    const { db, clock } = shop.fixture
    const total = () =>
      db
        .prepare<[], { orders: number; captured: number }>(
          'SELECT sum(orders) AS orders, sum(captured) AS captured FROM orderCaptureCount',
        )
        .get()
    await shop.watch(HOUR_MS)
    const before = total()
    const at = clock.now() - 3 * DAY_MS
    const first = { id: 'T-0', at: image.now - HISTORY_DAYS * DAY_MS, status: 'cancelled' as const }
    saveOrders(db, { domainId: shop.domainId, orders: [{ id: 'late', at }], now: clock.now() })
    saveOrders(db, { domainId: shop.domainId, orders: [first], now: clock.now() })
    await shop.watch(STEP_MS, undefined, false)
    const soon = total()
    await shop.watch(2 * HOUR_MS, undefined, false)
    expect(soon?.orders).toBe((before?.orders ?? 0) + PER_STEP)
    expect(total()?.orders).toBe((before?.orders ?? 0) + 6 * PER_STEP)
    expect(shop.errors).toEqual([])
  })
})
