import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb, TEST_START, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { type Gap, MIN_GAP_MS } from './gap.ts'
import { GapDetector } from './gap-detector.ts'
import { gapsBetween } from './gap-store.ts'

/** Returns a gap detector with its own database. Times are minutes since the start. */
function openFixture() {
  const db = memoryDb()
  const clock = testClock()
  const notified: Gap[] = []
  const reported: unknown[] = []
  const newWatch = () =>
    new GapDetector({ db, clock, onGap: (gap) => notified.push(gap), reportError: (error) => reported.push(error) })
  const minutes = ({ fromAt, toAt, cause }: Gap) =>
    `${cause} ${(fromAt - TEST_START) / MINUTE_MS}–${(toAt - TEST_START) / MINUTE_MS}`
  let watch = newWatch()
  /** Runs the program until this minute. */
  const until = (minute: number) => {
    const to = TEST_START + minute * MINUTE_MS
    while (clock.now() < to) {
      clock.set(Math.min(clock.now() + SECOND_MS, to))
      watch.heartbeat()
    }
  }
  return {
    db,
    clock,
    notified,
    reported,
    until,
    get watch() {
      return watch
    },
    gaps: () => watch.gapsOf(0, Number.MAX_SAFE_INTEGER).map(minutes),
    kept: () => gapsBetween(db, 0, Number.MAX_SAFE_INTEGER).map(minutes),
    /** Kills the program now, and restarts it at this minute. */
    killedUntil(minute: number) {
      clock.set(TEST_START + minute * MINUTE_MS)
      watch = newWatch()
    },
    stoppedUntil(minute: number) {
      watch.close()
      this.killedUntil(minute)
    },
    refused: () => watch.refused(clock.now()),
    stored: () => watch.stored(clock.now()),
  }
}

describe('a gap', () => {
  test('at a collector on another machine is recorded while it lasts, and reported once', () => {
    const world = openFixture()
    world.until(10)
    const from = TEST_START + 2 * MINUTE_MS
    const names: (string | undefined)[] = []
    const watch = new GapDetector({
      db: world.db,
      clock: world.clock,
      onGap: (_, collector) => names.push(collector),
      reportError: (error) => world.reported.push(error),
    })
    for (const minute of [3, 7, 5]) {
      watch.refusedElsewhere({ fromAt: from, toAt: TEST_START + minute * MINUTE_MS }, 'a')
    }
    expect([world.gaps(), world.kept(), names]).toEqual([['refused 2–7'], ['refused 2–7'], ['a']])
    watch.refusedElsewhere({ fromAt: from + 1, toAt: from + 2 }, 'b')
    expect([world.gaps(), names, world.reported]).toEqual([['refused 2–7'], ['a', 'b'], []])
  })

  test('is not detected while the program runs, nor at its first start', () => {
    const world = openFixture()
    world.until(10)
    world.stored()
    expect([world.gaps(), world.notified, world.reported]).toEqual([[], [], []])
  })

  test.each<[string, (world: ReturnType<typeof openFixture>) => void, string[]]>([
    ['after a kill begins at the last heartbeat', (world) => world.killedUntil(30), ['down 10–30']],
    ['after a stop begins at the stop', (world) => world.stoppedUntil(30), ['down 10.25–30']],
    ['is not created by a quick restart', (world) => world.stoppedUntil(12), []],
    ['is not created by a quick start after a kill', (world) => world.killedUntil(12), []],
    [
      'covers repeated kills',
      (world) => {
        world.killedUntil(20)
        world.until(21)
        world.killedUntil(30)
      },
      ['down 10–30'],
    ],
    [
      'is separate after some time',
      (world) => {
        world.killedUntil(20)
        world.until(30)
        world.killedUntil(40)
      },
      ['down 10–20', 'down 30–40'],
    ],
    [
      'covers a suspension of the process',
      (world) => {
        world.clock.set(TEST_START + 60 * MINUTE_MS)
        world.watch.heartbeat()
        world.until(61)
      },
      ['down 10.25–60'],
    ],
    [
      'covers rejected batches until batches are stored again',
      (world) => {
        world.refused()
        world.until(15)
        world.refused()
        world.until(20)
        world.stored()
        world.until(25)
        world.stored()
      },
      ['refused 10.25–20'],
    ],
    [
      'covers occasional storage failures',
      (world) => {
        for (const minute of [11, 12, 13, 14]) {
          world.refused()
          world.until(minute)
          world.stored()
        }
      },
      ['refused 10.25–14'],
    ],
    [
      'of rejected batches continues while the program is stopped',
      (world) => {
        world.refused()
        world.until(20)
        world.stoppedUntil(40)
      },
      ['refused 10.25–40'],
    ],
    [
      'of rejected batches survives a quick restart',
      (world) => {
        world.refused()
        world.until(20)
        world.killedUntil(21)
        world.refused()
        world.until(25)
        world.stored()
      },
      ['refused 10.25–25'],
    ],
  ])('%s', (_, happens, expected) => {
    const world = openFixture()
    world.until(10.25)
    happens(world)
    expect(world.gaps()).toEqual(expected)
    expect(world.kept()).toEqual(expected)
    expect(world.notified).toHaveLength(expected.length)
    expect(world.reported).toEqual([])
  })

  test('in progress ends at the current time, regardless of what was stored', () => {
    const world = openFixture()
    world.until(10)
    world.refused()
    world.clock.advance(SECOND_MS)
    expect(world.watch.refusing).toBe(true)
    expect(world.watch.gapsOf(0, world.clock.now())).toMatchObject([{ toAt: world.clock.now() }])
    expect(world.watch.gapsOf(0, world.clock.now() - SECOND_MS)).toEqual([])
    world.stored()
    expect(world.watch.refusing).toBe(false)
    expect(world.watch.gapsOf(world.clock.now(), world.clock.now() + HOUR_MS)).toEqual([])
  })

  test("that can't be written is kept in memory, and stored once the disk has space", () => {
    const world = openFixture()
    world.until(10)
    world.db.pragma('query_only = ON')
    world.refused()
    world.until(20)
    world.stored()
    world.until(25)
    world.refused()
    world.until(30)
    world.stored()
    const gaps = ['refused 10–20', 'refused 25–30']
    expect([world.gaps(), world.kept(), world.notified.length]).toEqual([gaps, [], 2])
    expect(world.reported.length).toBeGreaterThan(0)
    // Reported every half minute and when a gap begins or ends, but not for every batch.
    expect(world.reported.length).toBeLessThan(50)
    world.db.pragma('query_only = OFF')
    world.until(31)
    expect([world.gaps(), world.kept(), world.notified.length]).toEqual([gaps, gaps, 2])
  })

  test('that was never written is detected at the next start from missing heartbeats', () => {
    const world = openFixture()
    world.until(10)
    world.db.pragma('query_only = ON')
    world.refused()
    world.until(20)
    world.db.pragma('query_only = OFF')
    world.killedUntil(21)
    expect(world.kept()).toEqual(['down 10–21'])
  })

  test('is not caused by setting the clock back', () => {
    const world = openFixture()
    world.until(10)
    world.killedUntil(5)
    world.until(9)
    world.killedUntil(10)
    expect(world.gaps()).toEqual([])
  })
})

type Step = { kind: 'run' | 'kill' | 'stop' | 'refuse' | 'store'; seconds: number }

test('gaps are separate, ordered, reported once each, and cover all periods in which nothing was stored', () => {
  const step = fc.record({
    kind: fc.constantFrom<Step['kind']>('run', 'kill', 'stop', 'refuse', 'store'),
    seconds: fc.integer({ min: 1, max: 400 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const world = openFixture()
      const lost: [Instant, Instant][] = []
      let refusedAt: Instant | null = null
      const minute = () => (world.clock.now() - TEST_START) / MINUTE_MS
      for (const { kind, seconds } of steps) {
        const before = world.clock.now()
        if (kind === 'kill') world.killedUntil(minute() + seconds / 60)
        else if (kind === 'stop') world.stoppedUntil(minute() + seconds / 60)
        else world.until(minute() + seconds / 60)
        const now = world.clock.now()
        if ((kind === 'kill' || kind === 'stop') && now - before > MIN_GAP_MS) lost.push([before, now])
        // After a restart, the detector does not know that the disk is still full.
        if (kind === 'kill' || kind === 'stop') refusedAt = null
        if (kind === 'refuse') refusedAt ??= now
        if (kind === 'refuse') world.refused()
        if (kind === 'store') {
          if (refusedAt !== null) lost.push([refusedAt, now])
          refusedAt = null
          world.stored()
        }
      }
      const gaps = world.watch.gapsOf(0, Number.MAX_SAFE_INTEGER)
      for (const [index, gap] of gaps.entries()) {
        expect(gap.toAt).toBeGreaterThan(gap.fromAt)
        const next = gaps[index + 1]
        if (next) expect(next.fromAt - gap.toAt).toBeGreaterThan(MIN_GAP_MS)
      }
      expect(world.notified).toHaveLength(gaps.length)
      const uncovered = lost.filter(([from, to]) => !gaps.some(({ fromAt, toAt }) => fromAt <= from && toAt >= to))
      expect(uncovered).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('the start of a storage failure is available while the failure lasts', () => {
  const world = openFixture()
  world.until(5)
  expect(world.watch.refusingSince).toBeNull()
  world.refused()
  world.until(8)
  world.refused()
  expect(world.watch.refusingSince).toBe(TEST_START + 5 * MINUTE_MS)
  world.stored()
  expect(world.watch.refusingSince).toBeNull()
})
