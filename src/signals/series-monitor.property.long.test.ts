import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { Gap } from './gap.ts'
import { ALL_SIGNALS, blockAt, TICK_MS } from './series.ts'
import { CountsFixture, follow, hours, MONDAY, scope, ticks } from './series-monitor.fixture.ts'
import type { VerdictRow } from './verdict-row.ts'

const every = scope({ vendor: ALL_SIGNALS, event: null })
const END = MONDAY + 70 * DAY_MS

test('verdicts depend only on counts, not on when monitoring started or on earlier queries', async () => {
  const fault = fc.record({
    // Some faults begin so early that their alarm is still within its rest period.
    from: fc.integer({ min: -18 * 12, max: 40 }).map((ticks) => ticks * TICK_MS),
    lastsMs: fc.integer({ min: 6, max: 20 * 12 }).map((ticks) => ticks * TICK_MS),
    factor: fc.constantFrom(0, 0, 0.3, 4),
  })
  const world = fc.record({
    perHour: fc.constantFrom(4, 20, 60),
    faults: fc.array(fault, { minLength: 1, maxLength: 3 }),
    stepMinutes: fc.constantFrom(60, 60, 30, 15, 1),
    sensitivity: fc.constantFrom(3, 5),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata'),
    // Position of the evaluated time in its block.
    place: fc.constantFrom('inside', 'at the end'),
    gap: fc.option(fc.record({ at: fc.nat({ max: 300 }), minutes: fc.integer({ min: 3, max: 90 }) })),
    restarts: fc.array(fc.integer({ min: 1, max: 46 }), { maxLength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const { perHour, faults, stepMinutes, sensitivity, timezone, place, gap, restarts } = given
      const one = scope({ stepMs: stepMinutes * MINUTE_MS, sensitivity, timezone })
      const block = blockAt(one, END - 4 * DAY_MS)
      const middle = place === 'inside' ? block.from + 2 * DAY_MS : block.from + hours(3)
      const span = { from: middle - 24 * TICK_MS, to: middle + 24 * TICK_MS }
      const from = block.anchor - 7 * DAY_MS
      await using fixture = await CountsFixture.with(
        {
          from,
          to: span.to + DAY_MS,
          perHour,
          faults: faults.map((one) => {
            const at = span.from + one.from
            return { from: at, to: at + one.lastsMs, factor: one.factor }
          }),
        },
        { from, to: span.to + DAY_MS, perHour: 30, event: 'buy' },
      )
      const gapAt = span.from - hours(4) + (gap?.at ?? 0) * MINUTE_MS
      const gaps: Gap[] = gap ? [{ fromAt: gapAt, toAt: gapAt + gap.minutes * MINUTE_MS, cause: 'down' }] : []
      const gapsOf = (from: Instant, to: Instant) => gaps.filter(({ fromAt, toAt }) => fromAt < to && toAt > from)
      const scopes = [one, scope({ vendor: null, event: null, timezone }), every]

      const long = await follow(fixture.seriesMonitor({ gapsOf }), scopes, span)
      // The same ticks, with occasional restarts.
      const restarted: VerdictRow[][] = []
      let seriesMonitor = fixture.seriesMonitor({ gapsOf })
      for (const [index, window] of ticks(span).entries()) {
        if (restarts.includes(index)) seriesMonitor = fixture.seriesMonitor({ gapsOf })
        restarted.push((await seriesMonitor.verdicts(scopes, [window]))[0] ?? [])
      }
      expect(restarted).toEqual(long)
      // All ticks in one call.
      expect(await fixture.seriesMonitor({ gapsOf, memoryBytes: 0 }).verdicts(scopes, ticks(span))).toEqual(long)
      // Repeated calls, out of order, with a monitor that is ahead.
      const [early, late] = [ticks(span).at(5), ticks(span).at(-3)]
      if (early && late) {
        expect((await seriesMonitor.verdicts(scopes, [late]))[0]).toEqual(long.at(-3) ?? [])
        expect((await seriesMonitor.verdicts(scopes, [early]))[0]).toEqual(long.at(5) ?? [])
        expect((await seriesMonitor.verdicts(scopes, [late]))[0]).toEqual(long.at(-3) ?? [])
      }
      // A large window is open if any of its ticks is open, and has an alarm if any of its ticks has one.
      const [whole = []] = await fixture.seriesMonitor({ gapsOf }).verdicts([one], [span])
      const parts = long.map((rows) => rows.find(({ scope }) => scope === one))
      expect(whole[0]?.open).toBe(parts.some((row) => row?.open))
      expect(whole[0]?.alarm).toBe(parts.some((row) => row?.alarm))
    }),
    {
      numRuns: Number(process.env.RUNS ?? 6),
      endOnFailure: true,
      // Hours without events, read separately and together with other hours.
      examples: [
        [
          {
            perHour: 60,
            stepMinutes: 60,
            sensitivity: 3,
            timezone: 'Asia/Kolkata',
            place: 'inside',
            faults: [{ from: -300_000, lastsMs: 20_400_000, factor: 0 }],
            gap: null,
            restarts: [5],
          },
        ],
      ],
      ...(process.env.SEED ? { seed: Number(process.env.SEED), path: process.env.FCPATH ?? '' } : {}),
    },
  )
})
