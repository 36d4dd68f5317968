import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { tickBefore } from '../signals/series.ts'
import { parsePeriod, windowAt } from './alert-period.ts'
import { type Cursor, dueWindows, firstCursor, MAX_LATE_WINDOWS, nextDueAt, type Schedule } from './due-windows.ts'

const schedule = (period: string, partial: boolean, timezone = 'UTC'): Schedule => ({
  period: parsePeriod(period),
  timezone,
  partial,
})
const at = (time: string) => Date.parse(`2026-01-05T${time}Z`)
const spell = (instant: number) => new Date(instant).toISOString().slice(11, 16)

/** Formats windows: `10:00-11:00`, or `10:00-10:20…` for a partial window. */
function spans(cursor: Cursor, rule: Schedule, watermark: number, woken: boolean): string[] {
  return dueWindows(cursor, rule, watermark, woken).map(
    ({ window: { from, to, complete } }) => `${spell(from)}-${spell(to)}${complete ? '' : '…'}`,
  )
}

describe('an alert saved at 10:30 with one-hour windows', () => {
  const validation = schedule('1h', true)
  const volume = schedule('1h', false)

  test.each<[string, boolean, string[], string[]]>([
    ['10:30', false, [], []],
    ['10:59', false, [], []],
    ['10:40', true, ['10:30-10:40…'], []],
    ['11:00', false, ['10:30-11:00'], []],
    ['11:00', true, ['10:30-11:00'], []],
    ['11:59', false, ['10:30-11:00'], []],
    ['11:59', true, ['10:30-11:00', '11:00-11:59…'], []],
    ['12:00', false, ['10:30-11:00', '11:00-12:00'], ['11:00-12:00']],
    ['13:10', true, ['10:30-11:00', '11:00-12:00', '12:00-13:00', '13:00-13:10…'], ['11:00-12:00', '12:00-13:00']],
  ])(
    'evaluated at %s (woken: %p) has these due windows: validation %p, volume %p',
    (time, woken, ofValidation, ofVolume) => {
      const saved = at('10:30')
      expect(spans(firstCursor(validation, saved), validation, at(time), woken)).toEqual(ofValidation)
      expect(spans(firstCursor(volume, saved), volume, at(time), woken)).toEqual(ofVolume)
    },
  )

  test.each<[string, string[]]>([
    ['10:30', []],
    ['10:34', []],
    ['10:35', ['10:30-10:35…']],
    ['10:39', ['10:30-10:35…']],
    ['11:00', ['10:30-11:00']],
    ['11:04', ['10:30-11:00']],
    ['12:07', ['10:30-11:00', '11:00-12:00', '12:00-12:05…']],
  ])('evaluated at %s with ticks has these due windows: %p', (time, expected) => {
    const anomaly = { ...schedule('1h', true), ticks: true }
    expect(spans(firstCursor(anomaly, at('10:30')), anomaly, at(time), false)).toEqual(expected)
  })

  test('stores the start of the current window in its cursor', () => {
    const [whole, part] = dueWindows(firstCursor(validation, at('10:30')), validation, at('11:20'), true)
    expect(whole).toMatchObject({
      windowStartAt: at('10:00'),
      next: { evaluatedThrough: at('11:00'), windowStartAt: at('11:00') },
    })
    expect(part).toMatchObject({
      windowStartAt: at('11:00'),
      next: { evaluatedThrough: at('11:20'), windowStartAt: at('11:00') },
    })
  })
})

test('an alert saved at the start of a window begins with that window', () => {
  const rule = schedule('1h', false)
  expect(spans(firstCursor(rule, at('11:00')), rule, at('12:00'), false)).toEqual(['11:00-12:00'])
})

test('daily windows follow the time zone', () => {
  const rule = schedule('1d', false, 'America/New_York')
  const saved = Date.parse('2026-03-07T12:00Z')
  const [first, second] = dueWindows(firstCursor(rule, saved), rule, Date.parse('2026-03-10T12:00Z'), false)
  expect(first?.window).toEqual({
    from: Date.parse('2026-03-08T05:00Z'),
    to: Date.parse('2026-03-09T04:00Z'),
    complete: true,
  })
  expect(second?.window.to).toBe(Date.parse('2026-03-10T04:00Z'))
})

describe('an alert after downtime of more than 24 windows', () => {
  const back = at('10:30') + 3 * DAY_MS

  test('is evaluated for the last 24 windows', () => {
    const rule = schedule('1h', false)
    const due = dueWindows(firstCursor(rule, at('10:30')), rule, back, true)
    expect(due).toHaveLength(MAX_LATE_WINDOWS)
    expect(due.every(({ window }) => window.to - window.from === HOUR_MS)).toBe(true)
    expect(due[0]?.window.from).toBe(at('10:00') + 2 * DAY_MS)
    expect(due.at(-1)?.window.to).toBe(at('10:00') + 3 * DAY_MS)
  })

  test('includes earlier violations in the first of these windows', () => {
    const rule = schedule('1h', true)
    const due = dueWindows(firstCursor(rule, at('10:30')), rule, back, false)
    expect(due).toHaveLength(MAX_LATE_WINDOWS)
    expect(due[0]).toMatchObject({
      window: { from: at('10:30'), to: at('11:00') + 2 * DAY_MS },
      windowStartAt: at('10:00'),
    })
    expect(due[1]?.window.from).toBe(at('11:00') + 2 * DAY_MS)
  })
})

test('no window is due after the clock was set back', () => {
  for (const partial of [true, false]) {
    const rule = schedule('5m', partial)
    expect(dueWindows(firstCursor(rule, at('10:30')), rule, at('10:10'), true)).toEqual([])
  }
})

const periods = ['1m', '7m', '1h', '5h', '1d', '3d', '1w', '2w'] as const
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia'] as const
const life = fc.record({
  period: fc.constantFrom(...periods),
  timezone: fc.constantFrom(...zones),
  start: fc.oneof(
    fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 31) }),
    fc.integer({ min: Date.UTC(2011, 11, 20), max: Date.UTC(2012, 0, 2) }),
  ),
  ticks: fc.array(
    fc.record({
      woken: fc.boolean(),
      // A tick, a pause of about one window, a clock that was set back, or long downtime.
      afterMs: fc.oneof(
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 0, max: 2 * HOUR_MS }),
        fc.integer({ min: -MINUTE_MS, max: 0 }),
        fc.integer({ min: 0, max: 60 * DAY_MS }),
      ),
      // The program crashes after this many of the due evaluations have been stored.
      written: fc.oneof(fc.constant(100), fc.integer({ min: 0, max: 3 })),
    }),
    { maxLength: 40 },
  ),
})

function live({ period, timezone, start, ticks }: Life, partial: boolean, more: Partial<Schedule> = {}) {
  const rule = { ...schedule(period, partial, timezone), ...more }
  let cursor = firstCursor(rule, start)
  let now = start
  const evaluated = []
  for (const { woken, afterMs, written } of ticks) {
    now += afterMs
    const due = dueWindows(cursor, rule, now, woken)
    for (const one of due.slice(0, written)) {
      evaluated.push({ ...one, watermark: now })
      cursor = one.next
    }
  }
  return { rule, cursor, evaluated }
}

interface Life {
  period: string
  timezone: string
  start: number
  ticks: { woken: boolean; afterMs: number; written: number }[]
}

test('validation alerts cover time without gaps or overlaps, for any sequence of events', () => {
  fc.assert(
    fc.property(life, (life) => {
      const { rule, cursor, evaluated } = live(life, true)
      let through = life.start
      for (const { window, windowStartAt, watermark, next } of evaluated) {
        expect(window.from).toBe(through)
        expect(window.to).toBeGreaterThan(window.from)
        expect(window.to).toBeLessThanOrEqual(watermark)
        expect(next.evaluatedThrough).toBe(window.to)
        expect(windowStartAt).toBe(windowAt(rule.period, rule.timezone, window.from).start)
        const ends = windowAt(rule.period, rule.timezone, window.to).start === window.to
        expect(window.complete).toBe(ends)
        through = window.to
      }
      expect(cursor.evaluatedThrough).toBe(through)
    }),
    { numRuns: 300 },
  )
})

test('anomaly alerts evaluate the last 24 windows up to the last tick without overlap, for any sequence of events', () => {
  fc.assert(
    fc.property(life, (life) => {
      const { rule, evaluated } = live(life, true, { ticks: true })
      let through = life.start
      for (const { window, windowStartAt, watermark, next } of evaluated) {
        const whole = windowAt(rule.period, rule.timezone, window.from)
        expect(window.from).toBeGreaterThanOrEqual(through)
        // Only whole windows are skipped.
        if (window.from !== through) expect(window.from).toBe(whole.start)
        expect(window.to).toBeLessThanOrEqual(whole.end)
        expect(windowStartAt).toBe(whole.start)
        expect(window.complete).toBe(window.to === whole.end)
        if (!window.complete) expect(window.to).toBe(tickBefore(watermark))
        expect(next.evaluatedThrough).toBe(window.to)
        through = window.to
      }
    }),
    { numRuns: 300 },
  )
})

test('volume alerts evaluate each whole window once, in order, from the first one after they were saved', () => {
  fc.assert(
    fc.property(life, (life) => {
      const { rule, evaluated } = live(life, false)
      let through = life.start
      for (const { window, windowStartAt, watermark } of evaluated) {
        expect(window.complete).toBe(true)
        expect(windowAt(rule.period, rule.timezone, window.from)).toEqual({ start: window.from, end: window.to })
        expect(windowStartAt).toBe(window.from)
        expect(window.from).toBeGreaterThanOrEqual(through)
        expect(window.to).toBeLessThanOrEqual(watermark)
        through = window.to
      }
    }),
    { numRuns: 300 },
  )
})

test('an alert is due from nextDueAt onwards, and not before', () => {
  fc.assert(
    fc.property(life, fc.constantFrom('partial', 'whole', 'ticks'), (life, kind) => {
      const { rule, cursor } = live(life, kind !== 'whole', kind === 'ticks' ? { ticks: true } : {})
      const dueAt = nextDueAt(cursor, rule)
      expect(dueWindows(cursor, rule, dueAt - 1, false)).toEqual([])
      expect(dueWindows(cursor, rule, dueAt, false)).not.toEqual([])
      expect(dueWindows(cursor, rule, dueAt + life.ticks.length * HOUR_MS, false)).not.toEqual([])
    }),
    { numRuns: 1000 },
  )
})

test('without downtime, a volume alert evaluates every window after the first partial one', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.constantFrom('1h', '1d', '1w'), (timezone, period) => {
      const start = Date.UTC(2026, 2, 20, 12, 34)
      const ticks = Array.from({ length: 60 }, () => ({ woken: false, afterMs: 13 * HOUR_MS, written: 100 }))
      const { evaluated } = live({ period, timezone, start, ticks }, false)
      expect(evaluated.length).toBeGreaterThan(1)
      for (const [index, { window }] of evaluated.entries()) {
        const before = evaluated[index - 1]
        if (before) expect(window.from).toBe(before.window.to)
      }
    }),
  )
})
