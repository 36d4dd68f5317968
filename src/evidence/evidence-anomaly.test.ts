import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventOf, NOON, volumeInput, warehouseWith } from '../alerts/alert.fixture.ts'
import type { AlertInput } from '../alerts/alert.ts'
import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { madeSeries, randomOf } from '../detector/series.fixture.ts'
import { followedScope } from '../insights/series-scope.ts'
import { databaseWithOrgs, findingOf } from '../issues/issue.fixture.ts'
import type { SeriesScope } from '../signals/series.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import { saveSetting, settingsOf } from '../signals/signal-setting-store.ts'
import type { Db } from '../store/database.ts'
import { problemFrom } from './evidence.fixture.ts'
import { MAX_BUCKETS, type SeriesSources, seriesOf } from './evidence-series.ts'

/** Three weeks of a shop with about 90 events an hour. Purchases fall to a tenth three hours before noon. */
const shop = madeSeries(90, 3, randomOf(5)).flatMap((count, hour) => {
  const start = NOON - (21 * 24 - hour) * HOUR_MS
  return Array.from({ length: count }, (_, index) => {
    const receivedAt = start + Math.floor((index * HOUR_MS) / count)
    const isLost = start >= NOON - 3 * HOUR_MS && index % 20 > 0
    const event = index % 2 === 0 ? 'purchase' : ''
    return event && isLost ? [] : eventOf({ seq: hour * 1000 + index, event, receivedAt, ts: receivedAt })
  }).flat()
})

describe('the series of an anomaly', () => {
  let history: Awaited<ReturnType<typeof warehouseWith>>
  let db: Db
  beforeAll(async () => {
    history = await warehouseWith(shop)
    db = databaseWithOrgs()
  })
  afterAll(() => {
    history[Symbol.dispose]()
    db.close()
  })

  const anomalyInput: AlertInput = {
    ...volumeInput,
    alertType: 'volume_anomaly',
    volume: { vendor: 'ga4', event: 'purchase' },
  }

  /** Returns the series, and the arguments with which its chart was requested. */
  async function anomaly(values: Partial<AlertInput>, finding: Partial<Finding> = {}, first = 3 * HOUR_MS) {
    const base = problemFrom({ ...anomalyInput, ...values }, { first, last: Math.min(first, 3 * HOUR_MS) })
    if (!base.rule) throw new Error('no rule')
    const issue = { ...base.issue, evidence: findingOf({ vendor: 'ga4', event: 'purchase', ...finding }) }
    const followed = followedScope(db, issue, base.rule)
    const seriesMonitor = new SeriesMonitor({
      warehouse: history,
      gapsOf: () => [],
      settingsOf: (orgId) => settingsOf(db, orgId),
    })
    const charted: SeriesScope[] = []
    const sources: SeriesSources = {
      history: { query: () => Promise.reject(new Error('unexpected query')) },
      chart(scope, range) {
        charted.push(scope)
        return seriesMonitor.chart(scope, range, NOON)
      },
    }
    return { ...(await seriesOf({ ...base, issue, followed }, sources)), charted }
  }

  test('consists of the evaluated rows, including two days before the anomaly', async () => {
    const { series, grain } = await anomaly({})
    expect(grain).toBe('hour')
    expect(series.map(({ start }) => start)).toEqual(
      Array.from({ length: 51 }, (_, row) => NOON - (51 - row) * HOUR_MS),
    )
    for (const { observed, expected, low, high, partial } of series.slice(0, -3)) {
      expect(partial).toBe(false)
      expect(expected ?? 0).toBeGreaterThan(5)
      expect(observed).toBeGreaterThanOrEqual(low ?? Number.NaN)
      expect(observed).toBeLessThanOrEqual(high ?? Number.NaN)
    }
    const [fallen] = series.slice(-3)
    expect(fallen?.observed).toBeLessThan(fallen?.low ?? Number.NaN)
  })

  test.each<[string, Partial<AlertInput>, Partial<Finding>, Partial<SeriesScope>]>([
    ['a vendor', { volume: { vendor: 'ga4' } }, {}, { vendor: 'ga4', event: null, sensitivity: 4 }],
    [
      "a vendor, with the alert's sensitivity",
      { volume: { vendor: 'ga4', sensitivity: 2.5 } },
      {},
      { sensitivity: 2.5 },
    ],
    ['a day, in hours', { period: 'daily' }, {}, { stepMs: HOUR_MS }],
    ['a day in another time zone', { period: 'daily', timezone: 'Asia/Kathmandu' }, {}, { offsetMs: 15 * MINUTE_MS }],
    ['minutes', { period: '45m' }, {}, { stepMs: 15 * MINUTE_MS }],
    ['a signal', { volume: { vendor: '*' } }, {}, { vendor: 'ga4', event: 'purchase' }],
    ['a signal without a name', { volume: { vendor: '*' } }, { event: null }, { vendor: 'ga4', event: '' }],
    ['the whole domain', { volume: { vendor: '*' } }, { vendor: null, event: null }, { vendor: null, event: null }],
  ])('counts the events of %s', async (_, values, finding, scope) => {
    const { series, charted } = await anomaly(values, finding)
    expect(charted).toMatchObject([{ orgId: 'org_a', domainId: 'dom_shop', ...scope }])
    expect(series.length).toBeGreaterThan(48)
    const [{ vendor = null, event = null, stepMs = 0 } = {}] = charted
    for (const { start, observed } of series) {
      const counted = shop.filter(
        (one) =>
          one.receivedAt >= start &&
          one.receivedAt < Math.min(NOON, start + stepMs) &&
          (vendor === null || one.vendor === vendor) &&
          (event === null || one.event === event),
      )
      expect(observed).toBe(counted.length)
    }
  })

  test('uses the sensitivity setting of the signal', async () => {
    const widthOf = async (volume: AlertInput['volume'] & object) => {
      const { series, charted } = await anomaly({ volume })
      const { low, high } = series[0] ?? {}
      return { width: (high ?? 0) - (low ?? 0), sensitivity: charted[0]?.sensitivity }
    }
    const signal = { orgId: 'org_a', domainId: 'dom_shop', vendor: 'ga4', event: 'purchase' }
    const before = await widthOf({ vendor: '*', sensitivity: 3 })
    saveSetting(db, { now: () => NOON }, 'org_a', { ...signal, mode: 'auto', sensitivity: 6 })
    const after = await widthOf({ vendor: '*', sensitivity: 3 })
    expect([before.sensitivity, after.sensitivity]).toEqual([3, 6])
    expect(after.width).toBeGreaterThan(before.width)
    expect(await widthOf({ vendor: 'ga4', event: 'purchase', sensitivity: 3 })).toEqual(before)
  })

  test('is limited to the most recent rows', async () => {
    const { series } = await anomaly({}, {}, 20 * DAY_MS)
    expect([series.length, series.at(-1)?.start]).toEqual([MAX_BUCKETS - 1, NOON - HOUR_MS])
  })
})
