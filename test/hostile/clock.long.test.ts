import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nextWindow, parsePeriod, windowAt } from '../../src/alerts/alert-period.ts'
import { meetsRunWindow } from '../../src/alerts/allowed-run-hours.ts'
import { type Cursor, dueWindows } from '../../src/alerts/due-windows.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { runJobs } from '../../src/jobs/job.ts'
import { MIN_GAP_MS } from '../../src/signals/gap.ts'
import type { Transport } from '../../src/transport/transport.ts'
import { TEST_START } from '../fixtures.ts'
import { until } from '../run-program.ts'
import { type TestApp, testApp } from '../test-app.ts'

// The clock is wrong at startup, or becomes wrong while the program runs. The program must continue, delete nothing,
// and report the wrong clock once.

const YEARS_MS = 3653 * DAY_MS
const SHIFTS: [string, number][] = [
  ['10 years back', -YEARS_MS],
  ['a day back', -DAY_MS],
  ['3 hours back', -3 * HOUR_MS],
  ['3 hours ahead', 3 * HOUR_MS],
  ['a day ahead', DAY_MS],
  ['10 years ahead', YEARS_MS],
]

const CHANNELS = [{ type: 'webhook', target: 'https://hooks.example/a' }]
const VIOLATION = {
  name: 'Purchase has a value',
  alertType: 'data_validation',
  period: '1h',
  channels: CHANNELS,
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
}

/** Creates a webhook receiver that accepts every message, or none while `isDown` is true. */
function hooks() {
  const told: string[] = []
  const receiver = {
    told,
    isDown: false,
    transport: {
      async send(outbound) {
        if (outbound.kind !== 'http' || receiver.isDown) return { kind: 'error', message: 'down', permanent: false }
        told.push(JSON.parse(outbound.body).type)
        return { kind: 'status', status: 200, headers: {}, body: '' }
      },
    } satisfies Transport as Transport,
  }
  return receiver
}

type Receiver = ReturnType<typeof hooks>

/** Creates an alert, and returns it with a function that sends events for a new domain. */
async function watched(world: TestApp, alert: object = VIOLATION) {
  const { status, body } = await world.call('POST', '/v1/alerts', { body: alert })
  expect({ status, body }).toMatchObject({ status: 201 })
  const domains = new Map<string, string>()
  let batches = 0
  const send = async (name: string, value = '') => {
    const token = domains.get(name) ?? (await world.call('POST', '/v1/domains', { body: { name } })).body.token
    domains.set(name, token)
    const events = [{ vendor: 'Shop', event: 'purchase', params: { value } }]
    const answer = await world.collect(token, { batchId: `a-batch-${++batches}`, events })
    expect(answer).toMatchObject({ status: 202, body: { accepted: 1 } })
  }
  return { alertId: body.id as string, send }
}

/** Runs the jobs once a second for this many seconds. */
async function runs(world: TestApp, seconds = 2) {
  for (let second = 0; second < seconds; second++) {
    world.clock.advance(SECOND_MS)
    await world.run('heartbeat', 'flush', 'evaluate', 'deliver')
  }
}

/** Advances the time with as few heartbeats as possible, then runs the jobs that are due. */
async function passes(world: TestApp, byMs: number) {
  // Otherwise, disk writes would take half of the test's duration.
  world.app.db.pragma('synchronous = OFF')
  const end = world.clock.now() + byMs
  while (world.clock.now() < end) {
    world.clock.set(Math.min(end, world.clock.now() + MIN_GAP_MS))
    await world.run('heartbeat')
  }
  await world.run('flush', 'evaluate', 'deliver')
}

const issuesOf = async (world: TestApp) =>
  (await world.call('GET', '/v1/issues')).body.issues as { id: string; status: string; occurrences: number }[]

async function eventsOf(world: TestApp): Promise<number> {
  const { body } = await world.call('GET', `/v1/events?from=0&to=${Date.UTC(2100, 0)}`)
  return body.events.length
}

const openings = ({ told }: Receiver) => told.filter((type) => type === 'issue.opened').length

async function set(world: TestApp, way: string, byMs: number) {
  if (way === 'at a start') await world.restart(() => world.clock.advance(byMs))
  else world.clock.advance(byMs)
}

describe.each(['at a start', 'while running'])('a clock set to a wrong time %s', (way) => {
  test.each(SHIFTS)('(%s) and back loses no events and repeats no notifications', async (_, byMs) => {
    const receiver = hooks()
    await using world = await testApp({}, receiver)
    const { send } = await watched(world)
    await send('before')
    await runs(world)
    expect([await eventsOf(world), openings(receiver)]).toEqual([1, 1])

    await set(world, way, byMs)
    await runs(world)
    await send('wrong')
    await runs(world)
    expect([await eventsOf(world), openings(receiver)]).toEqual([2, 2])

    await set(world, way, -byMs)
    await runs(world)
    await send('right')
    await runs(world)
    expect([await eventsOf(world), openings(receiver)]).toEqual([3, 3])
    // A clock set forward can't be distinguished from downtime, so the log line mentions both.
    const [first = '', second = first] = world.warnings
    const lines = [/^nothing was collected .* or the clock was set forward; check that/, /^the clock was set back by /]
    if (byMs < 0) expect(first).toMatch(/^the clock was set back by /)
    else for (const [index, line] of [first, second].entries()) expect(line).toMatch(lines[index] ?? '')

    // The clock reaches all event times again. No notification is repeated, and nothing is deleted.
    const far = Math.max(world.clock.now(), TEST_START + byMs) - world.clock.now()
    if (far > 2 * DAY_MS) world.clock.advance(far)
    else await passes(world, far)
    await runs(world)
    world.clock.advance(2 * HOUR_MS)
    await runs(world)
    await world.run('retain')
    expect([await eventsOf(world), openings(receiver)]).toEqual([3, 3])
    expect((await issuesOf(world)).map(({ occurrences }) => occurrences)).toEqual([1, 1, 1])
  })
})

test('a start with the correct time after the clock was a day ahead logs the change once, and /readyz reports it', async () => {
  await using world = await testApp({ retentionDays: '3' }, hooks())
  await world.restart(() => world.clock.advance(DAY_MS))
  expect(world.warnings).toEqual([expect.stringMatching(/the clock was set forward; check that/)])
  const { send } = await watched(world)
  await send('shop')
  await world.restart(() => world.clock.advance(-DAY_MS))
  expect(world.warnings[1]).toMatch(/^the clock was set back by 1 day, to 2026-01-05T12:00:00.000Z\./)
  const { body } = await world.call('GET', '/readyz', { as: null })
  expect(body).toMatchObject({ ok: true, clockPutBack: { at: TEST_START, latestAt: TEST_START + DAY_MS } })
  // The warning is logged only once.
  await runs(world)
  await world.restart()
  await world.crash()
  expect(world.warnings).toHaveLength(2)
  world.clock.advance(DAY_MS + MINUTE_MS)
  expect((await world.call('GET', '/readyz', { as: null })).body.clockPutBack).toBeUndefined()
})

test('each event is evaluated once, regardless of clock changes', async () => {
  const step = fc.oneof(
    fc.constant({ kind: 'send' as const, ms: 0 }),
    fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 5 }).map((s) => s * SECOND_MS) }),
    fc.record({
      kind: fc.constantFrom('set' as const, 'restart' as const, 'crash' as const),
      ms: fc.constantFrom(
        ...SHIFTS.map(([, ms]) => ms),
        0,
        20 * SECOND_MS,
        -20 * SECOND_MS,
        -5 * SECOND_MS,
        40 * MINUTE_MS,
      ),
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      await using world = await testApp({}, hooks())
      const { send } = await watched(world)
      let sent = 0
      for (const { kind, ms } of steps) {
        if (kind === 'send') await send(`shop ${sent++ % 2}`)
        else if (kind === 'run') await runs(world, ms / SECOND_MS)
        else if (kind === 'set') world.clock.advance(ms)
        else if (kind === 'restart') await world.restart(() => world.clock.advance(ms))
        else await world.crash(() => world.clock.advance(ms))
      }
      await runs(world, 12)
      for (let hour = 0; hour < 3; hour++) {
        world.clock.advance(HOUR_MS)
        await runs(world)
      }
      const judged = (await issuesOf(world)).reduce((sum, { occurrences }) => sum + occurrences, 0)
      expect([await eventsOf(world), judged]).toEqual([sent, sent])
    }),
    { numRuns: 6 },
  )
})

test('received events are evaluated even if the clock is set back', async () => {
  const receiver = hooks()
  await using world = await testApp({}, receiver)
  const { send } = await watched(world, { ...VIOLATION, period: '1d' })
  await send('one')
  await runs(world)
  // This event is counted only at the end of the day, because the issue is already open.
  await send('one')
  await send('two')
  world.clock.advance(-3 * HOUR_MS)
  await runs(world)
  expect(openings(receiver)).toBe(2)
  expect((await issuesOf(world)).map(({ occurrences }) => occurrences).sort()).toEqual([1, 2])
  await world.restart()
  await runs(world)
  await passes(world, DAY_MS)
  expect((await issuesOf(world)).map(({ occurrences }) => occurrences).sort()).toEqual([1, 2])
})

test('after a clock change, a counting rule evaluates the next window, and no period twice', async () => {
  const receiver = hooks()
  await using world = await testApp({}, receiver)
  const volume = { name: 'Rush', alertType: 'volume_threshold', volume: { op: 'gte', count: 3 }, period: '1h' }
  await watched(world, { ...volume, channels: CHANNELS })
  const { send } = await watched(world)
  for (const _ of [1, 2]) await send('shop', '1')
  await runs(world)
  // The clock is a day ahead for a moment, then set back.
  world.clock.advance(DAY_MS)
  await runs(world)
  for (const _ of [1, 2]) await send('shop', '1')
  world.clock.advance(-DAY_MS)
  await runs(world)
  await passes(world, HOUR_MS)
  expect(openings(receiver)).toBe(0)
  for (const _ of [1, 2, 3]) await send('shop', '1')
  await passes(world, HOUR_MS)
  expect(openings(receiver)).toBe(1)
  // When the clock reaches the time of the two events again, that hour must not count four events.
  await passes(world, DAY_MS - 2 * HOUR_MS - 30 * MINUTE_MS)
  const before = receiver.told.length
  for (const _ of [1, 2]) await send('shop', '1')
  await passes(world, 2 * HOUR_MS)
  expect(receiver.told.slice(before).filter((type) => type !== 'issue.resolved')).toEqual([])
})

test('pending retries are sent after the clock is set back, and the throttle limit is unchanged', async () => {
  const receiver = hooks()
  await using world = await testApp({}, receiver)
  const { send } = await watched(world, { ...VIOLATION, throttle: { count: 2, per: 1, unit: 'hours' } })
  await world.restart(() => world.clock.advance(DAY_MS))
  receiver.isDown = true
  await send('one')
  await runs(world)
  receiver.isDown = false
  await world.restart(() => world.clock.advance(-DAY_MS))
  await runs(world, 90)
  expect(openings(receiver)).toBe(1)
  await send('two')
  await send('three')
  await runs(world)
  expect(openings(receiver)).toBe(2)
  await passes(world, HOUR_MS)
  expect(openings(receiver)).toBe(3)
})

test('an issue last seen in the future can be reopened, and is resolved after a quiet period', async () => {
  const receiver = hooks()
  await using world = await testApp({}, receiver)
  const { send } = await watched(world)
  await world.restart(() => world.clock.advance(YEARS_MS))
  await send('shop')
  await runs(world)
  const [issue] = await issuesOf(world)
  await send('other')
  await runs(world)
  const other = (await issuesOf(world)).find(({ id }) => id !== issue?.id)
  await world.call('PATCH', `/v1/issues/${other?.id}`, { body: { status: 'resolved' } })
  await world.restart(() => world.clock.advance(-YEARS_MS))
  await runs(world)
  // The issue was resolved manually ten years in the future; the new violation must reopen it now.
  await send('other')
  await runs(world)
  expect(receiver.told.filter((type) => type === 'issue.reopened')).toHaveLength(1)
  await passes(world, 26 * HOUR_MS)
  expect((await issuesOf(world)).map(({ status }) => status)).toEqual(['resolved', 'resolved'])
})

test('a clock that runs ahead causes no deletions in the first 7 days of operation, and resolves no issues', async () => {
  const receiver = hooks()
  await using world = await testApp({ retentionDays: '3' }, receiver)
  const { send } = await watched(world)
  await send('shop')
  await runs(world, 6)
  world.clock.advance(YEARS_MS)
  await runs(world)
  await world.run('retain', 'compact', 'automatic alerts', 'evaluate series')
  await passes(world, 2 * HOUR_MS)
  await world.restart(() => world.clock.advance(YEARS_MS))
  await runs(world)
  await world.run('retain')
  expect(await eventsOf(world)).toBe(1)
  expect((await issuesOf(world)).map(({ status }) => status)).toEqual(['open'])
  // No job checks the clock in the meantime, so the step is not treated as a gap.
  world.clock.advance(7 * DAY_MS + HOUR_MS)
  await world.run('retain')
  expect(await eventsOf(world)).toBe(0)
})

test('an hour without collection is not treated as silence', async () => {
  const receiver = hooks()
  await using world = await testApp({}, receiver)
  const volume = { name: 'Silence', alertType: 'volume_threshold', volume: { op: 'lte', count: 0 }, period: '1h' }
  const { send } = await watched(world, { ...volume, channels: CHANNELS })
  await send('shop', '1')
  await runs(world)
  world.clock.advance(DAY_MS)
  await runs(world)
  expect(receiver.told).toEqual([])
})

test('a session with future timestamps ends 12 hours after the clock was set back', async () => {
  await using world = await testApp({}, hooks())
  const { db } = world.app
  const insert = db.prepare(
    `INSERT INTO session (tokenHash, userId, via, createdAt, lastUsedAt, expiresAt) VALUES (?, ?, 'password', @at, @at, @at)`,
  )
  insert.run(Buffer.alloc(32), world.owner.userId, { at: TEST_START + YEARS_MS })
  world.clock.advance(HOUR_MS)
  await runs(world)
  world.clock.advance(-HOUR_MS)
  await runs(world, 1)
  const at = db.prepare<[], number>('SELECT expiresAt FROM session').pluck().get() ?? 0
  expect(at).toBe(world.clock.now() + 12 * HOUR_MS)
})

const RealDate = Date

/** Shifts the clock of this process, which continues to run. */
function putOn(byMs: number) {
  const now = () => RealDate.now() + byMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}

test.each([
  ['a day back', -DAY_MS],
  ['10 years ahead', YEARS_MS],
])('jobs continue in order when the clock is set %s', async (_, byMs) => {
  const ran: string[] = []
  const jobs = ['first', 'second'].map((name) => ({
    name,
    pattern: '* * * * * *',
    run: async () => void ran.push(name),
  }))
  const runner = runJobs(jobs, () => {})
  try {
    await until('a run', () => ran.length >= 2)
    putOn(byMs)
    ran.length = 0
    await until('runs after the clock was set', () => ran.length >= 4)
    expect([ran[0], new Set(ran).size]).toEqual(['first', 2])
  } finally {
    globalThis.Date = RealDate
    await runner.stop()
  }
})

describe('evaluation windows around daylight saving changes', () => {
  const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'UTC']
  const PERIODS = ['1h', '6h', '1d', '1w']
  const SERVER_ZONES = ['UTC', 'America/New_York', 'Australia/Lord_Howe']
  const YEAR = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1) }

  test.each(SERVER_ZONES)('are contiguous, and each is evaluated once, on a server in %s', (serverZone) => {
    const before = process.env.TZ
    process.env.TZ = serverZone
    try {
      for (const timezone of ZONES) {
        for (const text of PERIODS) checkYear(text, timezone)
      }
    } finally {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
    }
  })

  /**
   * Checks the windows of a year. Windows that are due are evaluated every half hour in months with clock changes, and
   * every five hours in other months.
   */
  function checkYear(text: string, timezone: string) {
    const schedule = { period: parsePeriod(text), timezone, partial: false }
    const first = windowAt(schedule.period, timezone, YEAR.from)
    let cursor: Cursor = { evaluatedThrough: first.start, windowStartAt: first.start }
    const seen: { from: Instant; to: Instant }[] = []
    for (let now = YEAR.from; now < YEAR.to; now += isNearChange(now) ? HOUR_MS / 2 : 5 * HOUR_MS) {
      for (const { window, next } of dueWindows(cursor, schedule, now, false)) {
        seen.push(window)
        cursor = next
      }
    }
    let expected = first
    for (const [index, { from, to }] of seen.entries()) {
      expect({ text, timezone, index, from, to }).toMatchObject({ from: expected.start, to: expected.end })
      expected = nextWindow(schedule.period, timezone, expected)
    }
    expect(YEAR.to - (seen.at(-1)?.to ?? 0)).toBeLessThanOrEqual(schedule.period.lengthMs + 6 * HOUR_MS)
  }

  /** True in March, April, October and November. */
  const isNearChange = (now: Instant) => [2, 3, 9, 10].includes(new Date(now).getUTCMonth())

  test.each([
    ['Europe/Berlin', '2026-03-29', 23, '2026-10-25', 25],
    ['America/New_York', '2026-03-08', 23, '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-10-04', 23.5, '2026-04-05', 24.5],
  ])('in %s have the correct day length and include office hours', (timezone, short, shortH, long, longH) => {
    for (const [day, hours] of [
      [short, shortH],
      [long, longH],
    ] as const) {
      const noon = Temporal.ZonedDateTime.from(`${day}T12:00[${timezone}]`).epochMilliseconds
      const { start, end } = windowAt(parsePeriod('1d'), timezone, noon)
      expect([day, (end - start) / HOUR_MS]).toEqual([day, hours])
      const inOffice = (at: Instant) =>
        meetsRunWindow({ hours: [9, 17] }, timezone, { from: at, to: at + 1, complete: true })
      let minutes = 0
      for (let at = start; at < end; at += 15 * MINUTE_MS) minutes += inOffice(at) ? 15 : 0
      expect([day, minutes]).toEqual([day, 8 * 60])
    }
  })
})
