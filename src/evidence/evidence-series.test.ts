import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eventOf, NOON, validationInput, volumeInput, warehouseWith } from '../alerts/alert.fixture.ts'
import type { AlertInput } from '../alerts/alert.ts'
import { nextWindow, parsePeriod, windowAt } from '../alerts/alert-period.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { COUNT_RETENTION_MS } from '../insights/count-series.ts'
import type { Query } from '../warehouse/query.ts'
import { MINUTES_MS } from '../warehouse/relation-columns.ts'
import { problemFrom } from './evidence.fixture.ts'
import { MAX_BUCKETS, seriesOf } from './evidence-series.ts'
import type { IssueProblem } from './issue-problem.ts'

const chart = () => Promise.reject(new Error('unexpected chart'))
const nothing = { history: { query: <T>(): Promise<T[]> => Promise.resolve([]) }, chart }

const changeInput: AlertInput = {
  ...volumeInput,
  alertType: 'tag_volume_change',
  volume: { direction: 'decrease', percent: 50 },
}
const journeyInput: AlertInput = {
  name: 'Purchases are reported',
  alertType: 'journey',
  period: '1h',
  journey: { steps: [{ vendor: 'ga4', event: 'cart' }, { vendor: 'ga4' }] },
  channels: volumeInput.channels,
}

test('buckets are contiguous, extend to the present, and equal a naive count', async () => {
  const anEvent = fc.record({
    ago: fc.oneof(fc.nat(3 * HOUR_MS), fc.nat(12 * DAY_MS)),
    weight: fc.constantFrom(1, 2.5, 1 / 0.3),
    broke: fc.constantFrom<string[] | null>(null, ['alr_validation'], ['alr_other', 'alr_validation'], ['alr_other']),
    vendor: fc.constantFrom('ga4', 'meta'),
    event: fc.constantFrom('purchase', 'view'),
    domainId: fc.constantFrom('dom_shop', 'dom_other'),
    orgId: fc.constantFrom('org_a', 'org_a', 'org_b'),
    params: fc.constantFrom<Record<string, string>>({}, { plan: 'pro' }),
  })
  const volume = fc.record({
    period: fc.constantFrom('1m', '15m', '7h', 'hourly', 'daily', '3d', 'weekly'),
    // Some days earlier, clocks go forward in Europe and back in Paraguay. Nepal is offset by a quarter of an hour.
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Asuncion'),
    vendors: fc.constantFrom<string[]>([], ['ga4'], ['ga4', 'meta']),
    filters: fc.constantFrom<NonNullable<AlertInput['filters']>>(
      [],
      [{ parameter: 'plan', op: 'equals', values: ['pro'] }],
    ),
    volume: fc.record({ op: fc.constantFrom('lte', 'gte'), count: fc.nat(9), event: fc.constantFrom('', 'view') }),
  })
  const first = fc.integer({ min: 0, max: 10 * DAY_MS })
  await fc.assert(
    fc.asyncProperty(fc.array(anEvent, { maxLength: 40 }), fc.option(volume), first, async (all, limits, first) => {
      const events = all.map(({ ago, broke, ...values }, index) =>
        eventOf({ ...values, receivedAt: NOON - ago, seq: index + 1, violations: broke }),
      )
      using history = await warehouseWith(events)
      const input = limits ? { ...volumeInput, ...limits } : validationInput
      const { series, grain } = await seriesOf(problemFrom(input, { first }), { history, chart })
      const [period, timezone] = limits
        ? [parsePeriod(limits.period), limits.timezone]
        : [parsePeriod(first > 7 * DAY_MS ? '1d' : '1h'), 'UTC']
      expect(grain).toBe(period.lengthMs < DAY_MS ? 'hour' : 'day')
      let bucket = windowAt(period, timezone, series[0]?.start ?? NOON)
      for (const { start, observed, partial } of series) {
        expect(start).toBe(bucket.start)
        const counted = events.filter(
          ({ receivedAt, orgId, domainId, violations, vendor, event, params }) =>
            receivedAt >= bucket.start &&
            receivedAt < bucket.end &&
            orgId === 'org_a' &&
            domainId === 'dom_shop' &&
            (limits
              ? (limits.vendors.length === 0 || limits.vendors.includes(vendor)) &&
                (limits.volume.event === '' || event === limits.volume.event) &&
                (limits.filters.length === 0 || params.plan === 'pro')
              : violations?.includes('alr_validation')),
        )
        expect({ observed, partial }).toEqual({
          observed: Math.round(counted.reduce((sum, { weight }) => sum + weight, 0)),
          partial: bucket.end > NOON,
        })
        bucket = nextWindow(period, timezone, bucket)
      }
      expect(series.length).toBeLessThanOrEqual(MAX_BUCKETS)
      expect(series[0]?.start).toBeLessThanOrEqual(NOON - first)
      // The series ends before the current window only if there are too many windows.
      if (series.at(-1)?.partial !== true) expect(first).toBeGreaterThan((MAX_BUCKETS - 1) * period.lengthMs)
    }),
    { numRuns: 40 },
  )
})

const at = (text: string) => Date.parse(`2026-${text}Z`)
const startsOf = async (trouble: IssueProblem) => (await seriesOf(trouble, nothing)).series.map(({ start }) => start)

/** Noon on 2026-04-01. */
test.each<[string, AlertInput, Parameters<typeof problemFrom>[1], [string, string, number]]>([
  [
    'hours, starting six hours before the first occurrence',
    validationInput,
    { first: HOUR_MS },
    ['04-01T05:00', '04-01T12:00', 8],
  ],
  ['hours for up to a week', validationInput, { first: 7 * DAY_MS }, ['03-25T06:00', '04-01T12:00', 175]],
  ['days for more than a week', validationInput, { first: 7 * DAY_MS + 1 }, ['03-19T00:00', '04-01T00:00', 14]],
  [
    'nothing before the domain was created',
    validationInput,
    { first: HOUR_MS, domainSince: NOON - 2 * HOUR_MS },
    ['04-01T10:00', '04-01T12:00', 3],
  ],
  [
    'the window in which the domain was created',
    volumeInput,
    { first: HOUR_MS, domainSince: NOON - HOUR_MS + 1 },
    ['04-01T11:00', '04-01T12:00', 2],
  ],
  [
    'nothing before the retention period',
    validationInput,
    { first: 9 * DAY_MS, retainedFrom: NOON - 2 * DAY_MS },
    ['03-31T00:00', '04-01T00:00', 2],
  ],
  [
    'the latest windows',
    { ...volumeInput, period: '1m' },
    { first: DAY_MS, last: 0 },
    ['04-01T05:21', '04-01T12:00', 400],
  ],
  [
    'the latest windows of an issue that ended long ago',
    { ...volumeInput, period: '1m' },
    { first: DAY_MS, last: DAY_MS / 2 },
    ['03-31T17:27', '04-01T00:06', 400],
  ],
  [
    'all windows of a short issue long ago',
    { ...volumeInput, period: '1m' },
    { first: DAY_MS, last: DAY_MS - 2 * MINUTE_MS },
    ['03-31T11:54', '03-31T12:08', 15],
  ],
])('the series shows %s', async (_, input, values, [first, last, length]) => {
  const starts = await startsOf(problemFrom(input, values))
  expect([starts.at(0), starts.at(-1), starts.length]).toEqual([at(first), at(last), length])
})

test.each<[AlertInput, { expected: number | null; low: number | null; high: number | null }]>([
  [validationInput, { expected: 0, low: null, high: null }],
  [
    { ...volumeInput, volume: { op: 'lte', count: 7 } },
    { expected: null, low: 7, high: null },
  ],
  [
    { ...volumeInput, volume: { op: 'gte', count: 7 } },
    { expected: null, low: null, high: 7 },
  ],
])('the series contains the expected counts and bounds: %#', async (input, bounds) => {
  const { series } = await seriesOf(problemFrom(input, { first: HOUR_MS }), nothing)
  expect(series).not.toBeEmpty()
  for (const point of series) expect(point).toMatchObject(bounds)
})

describe('the series of a volume change', () => {
  const weights = [0, 30, 100, 49, 50, 10, 4, 3]

  test.each<[NonNullable<AlertInput['volume']>, (number | null)[][]]>([
    [
      { direction: 'decrease', percent: 50 },
      [
        [30, 0, null, null],
        [100, 30, 15, null],
        [49, 100, 50, null],
        [50, 49, 24, null],
        [10, 50, 25, null],
        [4, 10, null, null],
        [3, 4, null, null],
      ],
    ],
    [
      { direction: 'increase', percent: 25, event: 'purchase' },
      [
        [30, 0, null, null],
        [100, 30, null, 38],
        [49, 100, null, 125],
        [50, 49, null, 62],
        [10, 50, null, 63],
        [4, 10, null, 20],
        [3, 4, null, 20],
      ],
    ],
  ])('is compared with the previous window: %j', async (volume, expected) => {
    const events = weights.map((weight, hour) =>
      eventOf({ weight, receivedAt: NOON - (7 - hour) * HOUR_MS, seq: hour + 1 }),
    )
    using history = await warehouseWith(events.slice(1))
    const { series } = await seriesOf(problemFrom({ ...changeInput, volume }, { first: 0 }), { history, chart })
    expect(series.map(({ observed, expected, low, high }) => [observed, expected, low, high])).toEqual(expected)
  })

  test('has no expected count if the previous window was deleted', async () => {
    const filters: AlertInput['filters'] = [{ parameter: 'plan', op: 'equals', values: ['pro'] }]
    const trouble = problemFrom({ ...changeInput, filters }, { first: DAY_MS, retainedFrom: NOON - 2 * HOUR_MS })
    const { series } = await seriesOf(trouble, nothing)
    expect(series.map(({ expected }) => expected)).toEqual([null, 0, 0])
  })
})

/** Returns the queries and the series. */
async function queriesOf(trouble: IssueProblem) {
  const queries: Query[] = []
  const query = <T>(query: Query): Promise<T[]> => {
    queries.push(query)
    return Promise.resolve([])
  }
  const { series } = await seriesOf(trouble, { history: { query }, chart })
  return { queries, series }
}

describe('the query of a series', () => {
  const filters: AlertInput['filters'] = [{ parameter: 'plan', op: 'equals', values: ['pro'] }]

  test.each<[AlertInput, ('counts' | 'events')[]]>([
    [volumeInput, ['counts']],
    [changeInput, ['counts']],
    [{ ...volumeInput, filters }, ['events']],
    [{ ...changeInput, filters }, ['events']],
    [validationInput, ['events']],
    [journeyInput, []],
  ])('uses at most one query, on counts if they are sufficient: %#', async (input, expected) => {
    const { queries } = await queriesOf(problemFrom(input, { first: DAY_MS }))
    expect(queries.map(({ over }) => over ?? 'events')).toEqual(expected)
  })

  test.each<[string, number, number]>([
    ['1d', 398 * DAY_MS, 400],
    ['1h', 398 * DAY_MS, 13],
    ['45m', COUNT_RETENTION_MS + DAY_MS, 0],
    ['20m', MINUTES_MS - DAY_MS, 13],
    // Older minutes have already been aggregated to quarter-hours.
    ['20m', MINUTES_MS + DAY_MS, 0],
  ])('reads counts far enough back for windows of %s: %d ms', async (period, agoMs, length) => {
    const { queries, series } = await queriesOf(problemFrom({ ...volumeInput, period }, { first: agoMs }))
    expect([series.length, queries.length]).toEqual([length, length > 0 ? 1 : 0])
  })
})

describe('the series of a journey', () => {
  test('contains the counted sessions by day', async () => {
    const occurrences = [
      { day: '2026-03-30', count: 3 },
      { day: '2026-04-01', count: 4 },
    ]
    const trouble = problemFrom(journeyInput, { first: 2 * DAY_MS, occurrences, domainSince: NOON - 3 * DAY_MS })
    const { series, grain } = await seriesOf(trouble, nothing)
    const day = (text: string, observed: number, partial = false) => ({
      start: Date.parse(text),
      observed,
      expected: 0,
      low: null,
      high: null,
      partial,
    })
    expect(grain).toBe('day')
    expect(series).toEqual([
      day('2026-03-29', 0),
      day('2026-03-30', 3),
      day('2026-03-31', 0),
      day('2026-04-01', 4, true),
    ])
  })

  test('is available after the alert was deleted', async () => {
    const trouble = { ...problemFrom(journeyInput, { first: HOUR_MS }), rule: null }
    expect((await seriesOf(trouble, nothing)).series.length).toBe(7)
  })
})

test('a deleted volume alert has no series because its settings are unknown', async () => {
  const gone = { ...problemFrom(volumeInput, { first: HOUR_MS }), rule: null }
  expect(await seriesOf(gone, nothing)).toEqual({ series: [], grain: 'hour' })
})
