import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { type SeriesScope, type Span, TICK_MS } from './series.ts'
import { CountsFixture, MONDAY } from './series-monitor.fixture.ts'
import {
  type CommonDrop,
  commonDrop,
  type DomainState,
  ServerOutageDetector,
  serverOutageNotice,
} from './server-outage.ts'
import type { VerdictRow } from './verdict-row.ts'

const AT = Date.UTC(2026, 0, 5, 12)
const ago = (minutes: number) => AT - minutes * MINUTE_MS

const stateOf = (state: DomainState['state'], minutes: number): DomainState => ({
  domainId: `dom_${state}_${minutes}`,
  state,
  down: state === 'silent' || state === 'low',
  since: ago(minutes),
})
const silent = (minutes: number) => stateOf('silent', minutes)
const low = (minutes: number) => stateOf('low', minutes)
const normal = stateOf('normal', 60)
const learning = stateOf('learning', 60)

describe('a server outage', () => {
  const uncertain = [normal.domainId]
  test.each<[string, DomainState[], CommonDrop | null]>([
    ['is not suspected without domains', [], null],
    ['is not suspected when all domains are normal', [normal, normal, normal], null],
    [
      'is suspected when three domains become silent',
      [silent(20), silent(21), silent(25)],
      { since: ago(20), uncertain: [] },
    ],
    ['is suspected when three domains drop', [low(60), low(120), silent(130)], { since: ago(60), uncertain: [] }],
    ['is not suspected when two domains drop', [silent(20), silent(21)], null],
    [
      'is not suspected when two domains drop while the others are learning',
      [silent(20), silent(21), learning, learning],
      null,
    ],
    [
      'is suspected when three domains drop while another is learning',
      [silent(20), silent(21), low(20), learning],
      { since: ago(20), uncertain: [] },
    ],
    [
      'is suspected with uncertainty when one domain has not dropped',
      [silent(20), silent(21), silent(25), normal],
      { since: ago(20), uncertain },
    ],
    [
      'is suspected with uncertainty when half of the domains are stable',
      [silent(20), normal, silent(25), normal],
      { since: ago(20), uncertain: [...uncertain, ...uncertain] },
    ],
    ['is not suspected when most domains are stable', [silent(20), normal, normal], null],
    ['is not suspected when one of three domains dropped long before', [silent(20), silent(21), silent(300)], null],
    [
      'is suspected when a fourth domain dropped long before',
      [silent(20), silent(21), silent(25), silent(9000)],
      { since: ago(20), uncertain: [] },
    ],
    [
      'is suspected when all domains dropped together long ago',
      [silent(900), silent(901), silent(925)],
      { since: ago(900), uncertain: [] },
    ],
    [
      'is not suspected because of a rise',
      [silent(20), silent(21), stateOf('high', 60), stateOf('high', 60), stateOf('high', 60)],
      null,
    ],
  ])('%s', (_, domains, expected) => {
    expect(commonDrop(domains)).toEqual(expected)
  })

  test('is suspected regardless of the order of domains, and never because of domains that are learning', () => {
    const minutes = fc.integer({ min: 2, max: 2000 })
    const domain = fc.oneof(minutes.map(silent), minutes.map(low), fc.constantFrom(normal, learning))
    fc.assert(
      fc.property(fc.array(domain, { maxLength: 8 }), (domains) => {
        const fall = commonDrop(domains)
        expect(commonDrop(domains.toReversed())?.since).toBe(fall?.since)
        expect(commonDrop([...domains, learning])).toEqual(fall)
        if (fall) expect(domains.filter(({ down }) => down).length).toBeGreaterThanOrEqual(2)
      }),
    )
  })
})

/** A detector whose monitor returns `states` for any scopes. */
function openFixture() {
  const world = {
    states: {} as Record<string, DomainState>,
    calls: [] as { scopes: readonly SeriesScope[]; windows: readonly Span[] }[],
    arose: [] as Instant[],
    fails: false,
    hasTraffic: true,
  }
  const watched = ['a', 'b', 'c'].map((domainId, index) => ({
    orgId: index < 2 ? 'one' : 'two',
    domainId,
    sensitivity: 5,
    timezone: 'UTC',
  }))
  const seriesMonitor = {
    async verdicts(scopes: readonly SeriesScope[], windows: readonly Span[]): Promise<VerdictRow[][]> {
      world.calls.push({ scopes, windows })
      if (world.fails) throw new Error('monitor failed')
      // Only the state of the domain matters.
      return [scopes.map(({ domainId }) => world.states[domainId] ?? learning)] as VerdictRow[][]
    },
  }
  const warehouse = { query: async <T>() => (world.hasTraffic ? [1] : []) as T[] }
  const serverOutage = new ServerOutageDetector({
    warehouse,
    seriesMonitor,
    domains: () => watched,
    onSuspected: (at) => world.arose.push(at),
  })
  const all = (state: DomainState) => {
    world.states = { a: state, b: state, c: state }
  }
  return { world, watched, serverOutage, all }
}

test('a suspected outage is evaluated once per tick, reported once, and ends on recovery', async () => {
  const { world, serverOutage, all } = openFixture()
  all(normal)
  expect(await serverOutage.isSuspectedAt(AT)).toBe(false)
  all(silent(20))
  // The tick was evaluated.
  expect(await serverOutage.isSuspectedAt(AT)).toBe(false)
  expect(world.calls).toHaveLength(2)
  for (const minute of [5, 10, 15]) expect(await serverOutage.isSuspectedAt(AT + minute * MINUTE_MS)).toBe(true)
  expect([world.arose, serverOutage.suspected]).toEqual([[AT + 5 * MINUTE_MS], true])
  all(normal)
  expect(await serverOutage.isSuspectedAt(AT + 20 * MINUTE_MS)).toBe(false)
  expect([world.arose.length, serverOutage.suspected]).toEqual([1, false])
  all(silent(20))
  expect(await serverOutage.isSuspectedAt(AT + HOUR_MS)).toBe(true)
  expect(world.arose).toHaveLength(2)
  expect(serverOutageNotice(AT).subject).toContain('2026-01-05 12:00 UTC')
})

test('past ticks are evaluated, but not reported', async () => {
  const { world, serverOutage, all } = openFixture()
  all(normal)
  await serverOutage.isSuspectedAt(AT)
  all(silent(20))
  expect(await serverOutage.isSuspectedAt(AT - HOUR_MS)).toBe(true)
  expect([world.arose, serverOutage.suspected]).toEqual([[], false])
})

test('concurrent calls share one evaluation, and a failed evaluation is retried', async () => {
  const { world, serverOutage, all } = openFixture()
  all(silent(20))
  world.fails = true
  expect(serverOutage.isSuspectedAt(AT)).rejects.toThrow('monitor failed')
  await serverOutage.isSuspectedAt(AT).catch(() => {})
  world.fails = false
  world.calls.length = 0
  expect(
    await Promise.all([serverOutage.isSuspectedAt(AT), serverOutage.isSuspectedAt(AT), serverOutage.isSuspectedAt(AT)]),
  ).toEqual([true, true, true])
  expect(world.calls.map(({ scopes }) => scopes.map(({ orgId, domainId }) => `${orgId} ${domainId}`))).toEqual([
    ['one a', 'one b'],
    ['two c'],
  ])
  for (const { scopes, windows } of world.calls) {
    expect(windows).toEqual([{ from: AT - 5 * MINUTE_MS, to: AT }])
    for (const scope of scopes) expect(scope).toMatchObject({ vendor: null, event: null, stepMs: HOUR_MS })
  }
})

test('a server outage is suspected from counts alone within half an hour, until it ends', async () => {
  const [from, outAt] = [MONDAY, MONDAY + 66 * DAY_MS + 12 * HOUR_MS]
  const outage = { from: outAt, to: outAt + HOUR_MS, factor: 0 }
  const rates = [240, 120, 60, 2]
  const traffic = rates.map((perHour, index) => ({
    orgId: `org_${index % 2}`,
    domainId: `dom_${index}`,
    from,
    to: outAt + 3 * HOUR_MS,
    perHour,
    faults: [outage],
  }))
  const lonely = traffic.map((one, index) => (index === 1 ? { ...one, faults: [] } : one))
  const ticks = Array.from({ length: 24 }, (_, tick) => outAt + tick * TICK_MS)
  const answers: boolean[][] = []
  for (const world of [traffic, lonely]) {
    await using fixture = await CountsFixture.with(...world)
    const watched = world.map(({ orgId, domainId }) => ({ orgId, domainId, sensitivity: 5, timezone: 'UTC' }))
    const arose: Instant[] = []
    const serverOutage = new ServerOutageDetector({
      warehouse: fixture.fixture.warehouse,
      seriesMonitor: fixture.seriesMonitor(),
      domains: () => watched,
      onSuspected: (at) => void arose.push(at),
    })
    const answer: boolean[] = []
    for (const tick of ticks) answer.push(await serverOutage.isSuspectedAt(tick))
    answers.push(answer)
    expect(arose).toEqual(ticks.filter((_, index) => answer[index] && !answer[index - 1]))
  }
  const [ours = [], theirs = []] = answers
  expect([ours.slice(0, 1), ours.slice(6, 12)]).toEqual([[false], Array(6).fill(true)])
  expect(theirs).toEqual(ticks.map(() => false))
})

test('no query is made for only two domains', async () => {
  const { world, watched, serverOutage, all } = openFixture()
  all(silent(20))
  watched.pop()
  expect([await serverOutage.isSuspectedAt(AT), world.calls]).toEqual([false, []])
})
