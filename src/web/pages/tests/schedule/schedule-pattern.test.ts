import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { INTERVALS, nextRuns, patternOf, type Schedule, scheduleOf } from './schedule-pattern.ts'

const NOW = Date.parse('2026-03-27T11:59:30Z')

test.each<[pattern: string, schedule: Partial<Schedule>]>([
  ['', { interval: 'none' }],
  ['*/15 * * * *', { interval: 'quarter' }],
  ['0,15,30,45 * * * *', { interval: 'quarter' }],
  ['  */30  *  * * * ', { interval: 'half' }],
  ['0 * * * *', { interval: 'hour', minute: 0 }],
  ['@hourly', { interval: 'hour', minute: 0 }],
  ['20 * * * *', { interval: 'hour', minute: 20 }],
  ['0 7 * * *', { interval: 'day', hour: 7, minute: 0 }],
  ['@daily', { interval: 'day', hour: 0, minute: 0 }],
  ['5 07 * * 1-5', { interval: 'weekdays', hour: 7, minute: 5 }],
  ['5 7 * * mon-FRI', { interval: 'weekdays', hour: 7, minute: 5 }],
  ['0 6 * * 0', { interval: 'week', hour: 6, minute: 0, weekday: 0 }],
  ['0 6 * * 7', { interval: 'week', hour: 6, minute: 0, weekday: 0 }],
  ['0 6 * * SAT', { interval: 'week', hour: 6, minute: 0, weekday: 6 }],
  ...[
    '*/10 * * * *',
    '*/15 8-18 * * *',
    '0 6 1 * *',
    '0 6 * 1 *',
    '0 6 * * 1,3',
    '0 6,18 * * *',
    '0 * * * 1',
    '0 0 6 * * *',
    '60 * * * *',
    '0 24 * * *',
    'nonsense',
  ].map((pattern): [string, Partial<Schedule>] => [pattern, { interval: 'custom' }]),
])('the pattern "%s" is shown as %j', (pattern, schedule) => {
  expect(scheduleOf(pattern)).toMatchObject(schedule)
})

test('a pattern that is shown as an interval runs at the same times as the pattern of that interval', () => {
  const field = (max: number) =>
    fc.oneof(fc.nat({ max }).map(String), fc.constantFrom('*', '*/15', '*/30', '0,30', '1-5', '1,2,3,4,5'))
  const patterns = fc.tuple(field(59), field(23), fc.constant('*'), fc.constant('*'), field(7)).map((f) => f.join(' '))
  let intervals = 0
  fc.assert(
    fc.property(patterns, (pattern) => {
      const schedule = scheduleOf(pattern)
      if (schedule.interval === 'custom') return
      intervals++
      expect(nextRuns(patternOf(schedule), 'Europe/Berlin', NOW, 5)).toEqual(nextRuns(pattern, 'Europe/Berlin', NOW, 5))
    }),
    { numRuns: 500 },
  )
  expect(intervals).toBeGreaterThan(50)
})

test('the pattern of each interval is shown as that interval', () => {
  for (const interval of INTERVALS.filter((one) => one !== 'custom')) {
    const schedule = { interval, minute: 35, hour: 17, weekday: 3 }
    expect(scheduleOf(patternOf(schedule)).interval).toBe(interval)
  }
})

test('the next runs keep their local time when the clocks change', () => {
  const runs = nextRuns('0 6 * * *', 'Europe/Berlin', NOW, 3) ?? []
  expect(runs.map((at) => new Date(at).toISOString())).toEqual([
    '2026-03-28T05:00:00.000Z',
    '2026-03-29T04:00:00.000Z',
    '2026-03-30T04:00:00.000Z',
  ])
})

test.each(['nonsense', '* *', '61 * * * *', '2026-01-01T00:00:00', ''])(
  'the pattern "%s" has no next runs',
  (pattern) => {
    expect(nextRuns(pattern, 'UTC', NOW, 3)).toBe(null)
  },
)
test('an unknown time zone has no next runs', () => {
  expect(nextRuns('0 6 * * *', 'Nowhere/City', NOW, 3)).toBe(null)
})
