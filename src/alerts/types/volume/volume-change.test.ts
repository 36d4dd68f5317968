import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, type Instant } from '../../../core/clock.ts'
import { alertOf, domainsNamed, evaluate, eventOf, HOUR_BEFORE_NOON, NOON, warehouseWith } from '../../alert.fixture.ts'
import type { Alert, AlertInput } from '../../alert.ts'
import { readAlertInput } from '../../alert-input.ts'
import { parsePeriod, previousWindow, windowAt } from '../../alert-period.ts'
import { tagVolumeChange } from './volume-change.ts'

const shop = domainsNamed('dom_shop')
const input: AlertInput = {
  name: 'Purchases stay',
  alertType: 'tag_volume_change',
  volume: { direction: 'decrease', percent: 50 },
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
}
const change = (values: Partial<AlertInput> = {}, id = 'alr_1') => alertOf({ ...input, ...values }, id)
const type = tagVolumeChange
const BEFORE = NOON - HOUR_MS - 1
const volumes = (before: number, now: number, values: Parameters<typeof eventOf>[0] = {}) => [
  ...(before > 0 ? [eventOf({ ...values, weight: before, receivedAt: BEFORE })] : []),
  ...(now > 0 ? [eventOf({ ...values, weight: now })] : []),
]
const firedOn = async (alert: Alert, before: number, now: number) => {
  using history = await warehouseWith(volumes(before, now))
  const { alr_1 = [] } = await evaluate(history, [alert], shop)
  return alr_1.map(({ summary }) => summary).join()
}

test.each<['increase' | 'decrease', number, number, number, string]>([
  ['decrease', 50, 100, 51, ''],
  ['decrease', 50, 100, 50, '50 events, 50% fewer than the 100 in the previous window'],
  ['decrease', 50, 3000, 1, '1 event, 99.9% fewer than the 3,000 in the previous window'],
  ['decrease', 100, 100, 0, '0 events, 100% fewer than the 100 in the previous window'],
  ['decrease', 100, 100, 1, ''],
  ['decrease', 100.5, 100, 0, ''],
  ['decrease', 33.33, 3000, 2000, '2,000 events, 33.3% fewer than the 3,000 in the previous window'],
  ['decrease', 33.34, 3000, 2000, ''],
  ['decrease', 10, 100, 300, ''],
  ['increase', 50, 100, 149, ''],
  ['increase', 50, 100, 150, '150 events, 50% more than the 100 in the previous window'],
  ['increase', 10_000, 1, 101, '101 events, 10,000% more than the 1 in the previous window'],
  ['increase', 10_000, 1, 100, ''],
  ['increase', 10, 100, 0, ''],
  ['increase', 0.1, 1000, 1001, '1,001 events, 0.1% more than the 1,000 in the previous window'],
  ['increase', 0.1, 1000, 1000, ''],
  ['increase', 1, 0, 1000, ''],
  ['increase', 1, 0.4, 1000, ''],
  ['decrease', 1, 0, 0, ''],
  // Fewer than 20 events in both windows.
  ['decrease', 50, 19, 0, ''],
  ['decrease', 50, 20, 0, '0 events, 100% fewer than the 20 in the previous window'],
  ['increase', 50, 1, 19, ''],
  ['increase', 50, 1, 20, '20 events, 1,900% more than the 1 in the previous window'],
  ['increase', 50, 19.6, 19.4, ''],
])(
  'an alert on %s of at least %p%%, from %p to %p, has the summary "%s"',
  async (direction, percent, before, now, summary) => {
    expect(await firedOn(change({ volume: { direction, percent } }), before, now)).toBe(summary)
  },
)

test('a finding contains the count, expected count, domain and window', async () => {
  const values = { vendor: 'ga4', event: 'purchase' }
  using history = await warehouseWith([...volumes(40, 10, values), ...volumes(1, 500, { event: 'view' })])
  const alert = change({ vendors: ['ga4'], volume: { direction: 'decrease', percent: 50, event: 'purchase' } })
  expect(await evaluate(history, [alert], shop)).toEqual({
    alr_1: [
      {
        domainId: 'dom_shop',
        subject: 'ga4 purchase',
        vendor: 'ga4',
        event: 'purchase',
        occurrences: 1,
        summary: '10 events, 75% fewer than the 40 in the previous window',
        observed: 10,
        expected: 40,
        firstAt: NOON - HOUR_MS,
        lastAt: NOON - 1,
        hosts: [],
        sample: null,
        sampleSeq: null,
      },
    ],
  })
})

test('each domain in scope is evaluated separately, with and without filters', async () => {
  const k = (value: string) => ({ params: { k: value } })
  using history = await warehouseWith([
    ...volumes(100, 10, { domainId: 'dom_shop', ...k('a') }),
    ...volumes(100, 100, { domainId: 'dom_shop', ...k('b') }),
    ...volumes(100, 20, { domainId: 'dom_blog', ...k('b') }),
    ...volumes(100, 0, { domainId: 'dom_other', ...k('a') }),
    eventOf({ receivedAt: NOON, weight: 1000 }),
    eventOf({ receivedAt: NOON - 2 * HOUR_MS - 1, weight: 1000 }),
  ])
  const two = { domainIds: ['dom_shop', 'dom_blog'] }
  const filters = [{ parameter: 'k', op: 'equals' as const, values: ['a'] }]
  const findings = await evaluate(
    history,
    [change(two, 'plain'), change({ ...two, filters }, 'filtered'), change({ filters }, 'everywhere')],
    domainsNamed('dom_shop', 'dom_blog', 'dom_other'),
  )
  const summaries = Object.entries(findings).map(([id, found]) => [
    id,
    ...found.map(({ domainId, observed, expected }) => [domainId, observed, expected]),
  ])
  expect(summaries).toEqual([
    ['plain', ['dom_blog', 20, 100]],
    ['filtered', ['dom_shop', 10, 100]],
    ['everywhere', ['dom_shop', 10, 100], ['dom_other', 0, 100]],
  ])
})

describe('the previous window', () => {
  const at = (...[year, month, ...rest]: [number, number, number, number?]): Instant =>
    Date.UTC(year, month - 1, ...rest)
  test.each<[string, string, Instant, Instant, string]>([
    ['15m', 'UTC', at(2026, 4, 1, 12), NOON - 15 * 60_000, 'the same length'],
    ['1d', 'UTC', at(2026, 3, 31), at(2026, 3, 30), 'the day before'],
    [
      '1d',
      'Asia/Kolkata',
      at(2026, 3, 31, 18) + 30 * 60_000,
      at(2026, 3, 30, 18) + 30 * 60_000,
      'a half-hour time zone',
    ],
    ['1d', 'Europe/Berlin', at(2026, 3, 28, 23), at(2026, 3, 27, 23), 'before the short day'],
    ['1d', 'Europe/Berlin', at(2026, 3, 29, 22), at(2026, 3, 28, 23), 'the short day of 23 hours'],
    ['1d', 'Europe/Berlin', at(2025, 10, 26, 23), at(2025, 10, 25, 22), 'the long day of 25 hours'],
    ['1w', 'Europe/Berlin', at(2026, 3, 29, 22), at(2026, 3, 22, 23), 'the short week'],
    ['2w', 'UTC', at(2026, 3, 30), at(2026, 3, 16), 'two weeks'],
  ])('is found for a period of %s in %s', async (period, timezone, start, before) => {
    const { end } = windowAt(parsePeriod(period), timezone, start)
    const events = [
      eventOf({ receivedAt: before - 1, weight: 7 }),
      eventOf({ receivedAt: before, weight: 100 }),
      eventOf({ receivedAt: start - 1, weight: 100 }),
      eventOf({ receivedAt: start, weight: 1 }),
      eventOf({ receivedAt: end - 1, weight: 2 }),
      eventOf({ receivedAt: end, weight: 7 }),
    ]
    using history = await warehouseWith(events)
    const filters = [{ parameter: 'k', op: 'is_blank' as const }]
    const alerts = [change({ period, timezone }, 'plain'), change({ period, timezone, filters }, 'filtered')] as const
    const window = { from: start, to: end, complete: true }
    for (const found of Object.values(await evaluate(history, [...alerts], shop, window))) {
      expect(found).toMatchObject([{ observed: 3, expected: 200 }])
    }
  })

  test('is separate for alerts that share only the current window', () => {
    const { start, end } = windowAt(parsePeriod('1d'), 'UTC', at(2026, 10, 26))
    const window = { from: start, to: end, complete: true }
    const scans = ['UTC', 'Europe/London', 'UTC'].map((timezone) => {
      expect(windowAt(parsePeriod('1d'), timezone, start)).toEqual({ start, end })
      return type.scanKey(change({ period: '1d', timezone }), window)
    })
    expect(new Set(scans).size).toBe(2)
    expect(scans[0]).toBe(scans[2])
    expect(type.scanKey(change({ period: '24h' }), window)).toBe(scans[0] ?? 'missing')
  })

  test('is the window that was evaluated before, for any period and time zone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('1m', '7h', '1d', '3d', '1w', '4w'),
        fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe'),
        fc.integer({ min: 0, max: 400 * 24 }),
        (period, timezone, hours) => {
          const window = windowAt(parsePeriod(period), timezone, NOON - 200 * DAY_MS + hours * HOUR_MS)
          const before = previousWindow(parsePeriod(period), timezone, window)
          const measured = tagVolumeChange.measure(
            [change({ period, timezone })],
            { from: window.start, to: window.end, complete: true },
            shop,
          )
          expect(measured.window).toEqual({ from: before.start, to: window.end })
          expect(before.end).toBe(window.start)
        },
      ),
    )
  })
})

test.each<[string, object, string]>([
  ['no volume', { volume: undefined }, 'volume: a tag_volume_change alert requires direction and percent'],
  ['a count', { volume: { op: 'lte', count: 3 } }, 'volume.'],
  ['a sensitivity', { volume: { vendor: 'ga4' } }, 'volume.'],
  ['0 percent', { volume: { direction: 'decrease', percent: 0 } }, 'volume.percent: '],
  ['a percentage above the maximum', { volume: { direction: 'decrease', percent: 10_001 } }, 'volume.percent: '],
  ['no direction', { volume: { percent: 10 } }, 'volume.direction: '],
  [
    'conditions',
    { conditions: { logic: 'any', items: [{ parameter: 'k', op: 'is_blank' }] } },
    'conditions: not allowed in a tag_volume_change alert; use filters to select the events to count',
  ],
  [
    'a group of conditions',
    { conditionGroups: [{ op: 'any', items: [{ parameter: 'k', op: 'is_blank' }] }] },
    'conditionGroups[0]: not allowed in a tag_volume_change alert',
  ],
  ['a journey', { journey: { steps: [{ event: 'purchase' }] } }, 'journey: not allowed in a tag_volume_change alert'],
  [
    'a filter on phone numbers',
    { filters: [{ parameter: 'k', op: 'contains_phone' }] },
    'filters[0].op: contains_phone is only supported in data_validation alerts',
  ],
])('a volume change alert is rejected when saved: %s', (_, values, message) => {
  const read = () => readAlertInput(JSON.parse(JSON.stringify({ ...input, ...values })))
  expect(read).toThrow(message)
  expect(readAlertInput(input)).toEqual(input)
})

test('ten thousand alerts are evaluated in less than a second', () => {
  const names = (n: number) => ({ vendor: `vendor ${n % 20}`, event: `event ${n % 200}` })
  const rows = Array.from({ length: 4000 }, (_, n) => ({
    domainId: `dom_${n % 20}`,
    ...names(Math.floor(n / 20)),
    count: 10,
    before: 100,
  }))
  const alerts = Array.from({ length: 10_000 }, (_, n) => {
    const { vendor, event } = names(n)
    return change(
      { domainId: `dom_${n % 20}`, vendors: [vendor], volume: { direction: 'decrease', percent: 50, event } },
      `alr_${n}`,
    )
  })
  const started = performance.now()
  const found = alerts.flatMap((alert) => type.judge(alert, rows, HOUR_BEFORE_NOON, domainsNamed(`dom_${0}`, 'dom_1')))
  expect(performance.now() - started).toBeLessThan(1000)
  expect(found.length).toBe(1000)
})
