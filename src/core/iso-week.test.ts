import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS } from './clock.ts'
import { parseWeek, WEEK_MS, weekName, weekStart } from './iso-week.ts'

// From the table of ISO 8601 at https://en.wikipedia.org/wiki/ISO_week_date.
test.each([
  ['2005-01-01', '2004-W53'],
  ['2005-01-02', '2004-W53'],
  ['2005-12-31', '2005-W52'],
  ['2006-01-02', '2006-W01'],
  ['2007-12-31', '2008-W01'],
  ['2008-12-28', '2008-W52'],
  ['2008-12-29', '2009-W01'],
  ['2009-12-31', '2009-W53'],
  ['2010-01-03', '2009-W53'],
  ['2026-11-16', '2026-W47'],
])('%s is in %s', (day, week) => {
  const at = Date.parse(day)
  expect(weekName(at)).toBe(week)
  const start = parseWeek(week) ?? 0
  expect([start <= at && at < start + WEEK_MS, new Date(start).getUTCDay()]).toEqual([true, 1])
})

test.each(['2026-W00', '2025-W53', '2026-W54', '2026-47', '26-W47', '2026-W7', '2026-W470', '', 'W47', '0042-W01'])(
  '%j is no week',
  (name) => expect(parseWeek(name)).toBeNull(),
)

test('a week is found by its name, and its seven days have it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2400, 0) }), (at) => {
      const start = weekStart(at)
      expect(parseWeek(weekName(at))).toBe(start)
      for (const day of [0, 1, 6]) expect(weekName(start + day * DAY_MS)).toBe(weekName(at))
      expect(weekName(start - 1)).not.toBe(weekName(at))
    }),
  )
})
