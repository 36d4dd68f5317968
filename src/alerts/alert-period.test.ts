import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { checkTimezone } from '../core/timezone.ts'
import { nextWindow, parsePeriod, previousWindow, windowAt } from './alert-period.ts'

describe('a period', () => {
  test.each([
    ['1m', MINUTE_MS],
    ['90m', 90 * MINUTE_MS],
    ['1h', HOUR_MS],
    ['24h', DAY_MS],
    ['3d', 3 * DAY_MS],
    ['2w', 14 * DAY_MS],
    ['4w', 28 * DAY_MS],
    ['28d', 28 * DAY_MS],
    ['672h', 28 * DAY_MS],
    ['40320m', 28 * DAY_MS],
    ['hourly', HOUR_MS],
    ['daily', DAY_MS],
    ['weekly', 7 * DAY_MS],
  ])('written as %s lasts %i ms', (text, lengthMs) => {
    expect(parsePeriod(text).lengthMs).toBe(lengthMs)
  })

  const refused =
    '0m 00h 01h 5w 29d 673h 40321m 1 m 1s 1M 1H -1h +1h 1.5h 1e1m 1h30m monthly Daily 99999999999999999999w'
  test.each([...refused.split(' '), '', ' 1h', '1 h', '1h\n', '１h', 'constructor'])(
    'is rejected by an error naming the field: %p',
    (text) => {
      expect(() => parsePeriod(text)).toThrow(AppError)
      expect(() => parsePeriod(text)).toThrow(/^period: /)
    },
  )
})

describe('a time zone', () => {
  const names = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'europe/berlin', 'US/Pacific', 'EST5EDT', '+05:30']
  test('is accepted when its windows can be computed', () => {
    const day = parsePeriod('1d')
    for (const name of names) {
      expect(() => checkTimezone(name)).not.toThrow()
      const { start, end } = windowAt(day, name, Date.UTC(2026, 6, 1, 12))
      expect(end - start).toBe(DAY_MS)
    }
  })

  test.each([
    '',
    ' ',
    'Mars/Olympus',
    'Europe/Berlin ',
    'GMT+3',
    '+25:00',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00[UTC]',
  ])('is rejected by an error naming the field: %p', (name) => {
    expect(() => checkTimezone(name)).toThrow(AppError)
    expect(() => checkTimezone(name)).toThrow(/^timezone: /)
  })
})

/** Zones whose clocks change at night, at midnight, by half an hour, by a whole day, or never. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Antarctica/Troll',
]
const period = fc
  .oneof(
    fc.tuple(fc.integer({ min: 1, max: 40_320 }), fc.constant('m')),
    fc.tuple(fc.integer({ min: 1, max: 672 }), fc.constant('h')),
    fc.tuple(fc.integer({ min: 1, max: 28 }), fc.constant('d')),
    fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constant('w')),
  )
  .map(([count, unit]) => parsePeriod(`${count}${unit}`))
const zone = fc.constantFrom(...ZONES)
const instant = fc.oneof(
  fc.integer({ min: Date.UTC(1985, 0, 1), max: Date.UTC(2045, 0, 1) }),
  // Near the day that Samoa skipped, and near a clock change at 00:01.
  fc.integer({ min: Date.UTC(2011, 11, 27), max: Date.UTC(2012, 0, 3) }),
  fc.integer({ min: Date.UTC(2006, 9, 28), max: Date.UTC(2006, 9, 31) }),
)

describe('windows', () => {
  test('are adjacent, and every instant belongs to exactly one', () => {
    fc.assert(
      fc.property(period, zone, instant, fc.nat(), (period, timezone, at, somewhere) => {
        const window = windowAt(period, timezone, at)
        expect(window.start).toBeLessThanOrEqual(at)
        expect(window.end).toBeGreaterThan(at)
        const inside = window.start + (somewhere % (window.end - window.start))
        expect(windowAt(period, timezone, inside)).toEqual(window)
        const next = nextWindow(period, timezone, window)
        expect(next.start).toBe(window.end)
        expect(next.end).toBeGreaterThan(next.start)
        expect(previousWindow(period, timezone, next)).toEqual(window)
      }),
      { numRuns: 2000 },
    )
  })

  test('of minutes and hours are aligned to multiples since the epoch, in any time zone', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 672 }),
        fc.constantFrom('m', 'h'),
        zone,
        instant,
        (n, unit, timezone, at) => {
          const period = parsePeriod(`${n}${unit}`)
          const { start, end } = windowAt(period, timezone, at)
          expect(start % period.lengthMs).toBe(0)
          expect(end - start).toBe(period.lengthMs)
        },
      ),
    )
  })

  const local = (timezone: string, at: number) => {
    const format = new Intl.DateTimeFormat('sv', {
      timeZone: timezone,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    return format.format(at)
  }
  const starts = (text: string, timezone: string, from: number, count: number) => {
    const period = parsePeriod(text)
    let window = windowAt(period, timezone, from)
    return Array.from({ length: count }, () => {
      const { start, end } = window
      window = nextWindow(period, timezone, window)
      return [local(timezone, start), (end - start) / HOUR_MS]
    })
  }

  test.each<[string, string, string, [string, number][]]>([
    [
      'Europe/Berlin',
      '1d',
      '2026-03-28T12:00Z',
      [
        ['2026-03-28 00:00:00', 24],
        ['2026-03-29 00:00:00', 23],
        ['2026-03-30 00:00:00', 24],
      ],
    ],
    [
      'Europe/Berlin',
      '1d',
      '2026-10-24T12:00Z',
      [
        ['2026-10-24 00:00:00', 24],
        ['2026-10-25 00:00:00', 25],
        ['2026-10-26 00:00:00', 24],
      ],
    ],
    [
      'Europe/Berlin',
      '1w',
      '2026-03-25T12:00Z',
      [
        ['2026-03-23 00:00:00', 167],
        ['2026-03-30 00:00:00', 168],
      ],
    ],
    [
      'Europe/Berlin',
      '2w',
      '2026-10-25T12:00Z',
      [
        ['2026-10-12 00:00:00', 337],
        ['2026-10-26 00:00:00', 336],
      ],
    ],
    [
      'America/New_York',
      '1d',
      '2026-03-08T12:00Z',
      [
        ['2026-03-08 00:00:00', 23],
        ['2026-03-09 00:00:00', 24],
      ],
    ],
    [
      'America/New_York',
      'daily',
      '2026-11-01T12:00Z',
      [
        ['2026-11-01 00:00:00', 25],
        ['2026-11-02 00:00:00', 24],
      ],
    ],
    [
      'America/New_York',
      'weekly',
      '2026-11-01T12:00Z',
      [
        ['2026-10-26 00:00:00', 169],
        ['2026-11-02 00:00:00', 168],
      ],
    ],
    [
      'Asia/Kolkata',
      '1d',
      '2026-01-01T18:29Z',
      [
        ['2026-01-01 00:00:00', 24],
        ['2026-01-02 00:00:00', 24],
      ],
    ],
    ['Asia/Kolkata', '1d', '2026-01-01T18:30Z', [['2026-01-02 00:00:00', 24]]],
    [
      'Australia/Lord_Howe',
      '1d',
      '2026-04-04T20:00Z',
      [
        ['2026-04-05 00:00:00', 24.5],
        ['2026-04-06 00:00:00', 24],
      ],
    ],
    [
      'Australia/Lord_Howe',
      '1d',
      '2026-10-03T20:00Z',
      [
        ['2026-10-04 00:00:00', 23.5],
        ['2026-10-05 00:00:00', 24],
      ],
    ],
    [
      'Australia/Lord_Howe',
      '1w',
      '2026-10-01T00:00Z',
      [
        ['2026-09-28 00:00:00', 167.5],
        ['2026-10-05 00:00:00', 168],
      ],
    ],
    [
      'America/New_York',
      '2d',
      '2026-03-08T12:00Z',
      [
        ['2026-03-08 00:00:00', 47],
        ['2026-03-10 00:00:00', 48],
      ],
    ],
    ['Asia/Kolkata', '1w', '2026-01-11T18:29Z', [['2026-01-05 00:00:00', 168]]],
    ['Asia/Kolkata', '1w', '2026-01-11T18:30Z', [['2026-01-12 00:00:00', 168]]],
    // Samoa skipped Friday the 30th.
    [
      'Pacific/Apia',
      '1d',
      '2011-12-30T00:00Z',
      [
        ['2011-12-29 00:00:00', 24],
        ['2011-12-31 00:00:00', 24],
        ['2012-01-01 00:00:00', 24],
      ],
    ],
    [
      'Pacific/Apia',
      '1w',
      '2011-12-30T00:00Z',
      [
        ['2011-12-26 00:00:00', 144],
        ['2012-01-02 00:00:00', 168],
      ],
    ],
    // Midnight does not exist.
    [
      'America/Sao_Paulo',
      '1d',
      '2018-11-03T12:00Z',
      [
        ['2018-11-03 00:00:00', 24],
        ['2018-11-04 01:00:00', 23],
        ['2018-11-05 00:00:00', 24],
      ],
    ],
    // Midnight occurs twice.
    [
      'America/Havana',
      '1d',
      '2026-11-01T12:00Z',
      [
        ['2026-11-01 00:00:00', 25],
        ['2026-11-02 00:00:00', 24],
      ],
    ],
    // Clocks went from 00:01 back to 23:01 on the previous day (in 1988 to 22:01).
    [
      'America/St_Johns',
      '1d',
      '2006-10-28T12:00Z',
      [
        ['2006-10-28 00:00:00', 24],
        ['2006-10-29 00:00:00', 25],
        ['2006-10-30 00:00:00', 24],
      ],
    ],
    [
      'America/St_Johns',
      '1d',
      '1988-10-29T12:00Z',
      [
        ['1988-10-29 00:00:00', 24],
        ['1988-10-30 00:00:00', 26],
        ['1988-10-31 00:00:00', 24],
      ],
    ],
  ])('have the expected starts in %s for a period of %s from %s', (timezone, text, from, expected) => {
    expect(starts(text, timezone, Date.parse(from), expected.length)).toEqual(expected)
  })

  test.each([
    ['3d', 'UTC', '2026-01-05T00:00Z', '2026-01-04T00:00Z'],
    ['1w', 'UTC', '2026-01-11T23:59Z', '2026-01-05T00:00Z'],
    ['1w', 'UTC', '2026-01-12T00:00Z', '2026-01-12T00:00Z'],
    ['2w', 'UTC', '1970-01-05T00:00Z', '1970-01-05T00:00Z'],
    ['4w', 'UTC', '1970-02-01T00:00Z', '1970-01-05T00:00Z'],
    ['5d', 'UTC', '1970-01-01T00:00Z', '1970-01-01T00:00Z'],
  ])('of %s in %s are counted from a fixed day: the window at %s began at %s', (text, timezone, at, start) => {
    expect(windowAt(parsePeriod(text), timezone, Date.parse(at)).start).toBe(Date.parse(start))
  })
})
