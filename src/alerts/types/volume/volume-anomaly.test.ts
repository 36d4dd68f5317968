import { describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../../core/clock.ts'
import type { SeriesScope } from '../../../signals/series.ts'
import type { VerdictRow } from '../../../signals/verdict-row.ts'
import { alertOf, domainsNamed, HOUR_BEFORE_NOON, NOON } from '../../alert.fixture.ts'
import type { AlertInput } from '../../alert.ts'
import { isPartial } from '../alert-type.ts'
import { sensitivityOf, volumeAnomaly } from './volume-anomaly.ts'

const anomaly = (values: Partial<AlertInput> = {}): AlertInput => ({
  name: 'Strays',
  alertType: 'volume_anomaly',
  volume: { vendor: 'ga4' },
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
  ...values,
})
const every = anomaly({ volume: { vendor: '*' } })
const scopesOf = (input: AlertInput) => volumeAnomaly.series?.(alertOf(input), domainsNamed('dom_a', 'dom_b')) ?? []

describe('the monitored series', () => {
  test.each<[string, AlertInput, Partial<SeriesScope>]>([
    ['all events of a vendor', anomaly(), { vendor: 'ga4', event: null, stepMs: HOUR_MS, sensitivity: 4 }],
    [
      'one event of a vendor',
      anomaly({ volume: { vendor: 'ga4', event: 'purchase' } }),
      { vendor: 'ga4', event: 'purchase' },
    ],
    ['an empty event means all events', anomaly({ volume: { vendor: 'ga4', event: '' } }), { event: null }],
    ['every signal', every, { vendor: '*', event: null, stepMs: HOUR_MS }],
    ['by quarter of an hour', anomaly({ period: '15m' }), { stepMs: 15 * MINUTE_MS }],
    ['every signal by day, in hours', { ...every, period: '1d' }, { stepMs: HOUR_MS, offsetMs: 0 }],
    ['with a sensitivity', anomaly({ volume: { vendor: 'ga4', sensitivity: 2.5 } }), { sensitivity: 2.5 }],
    ['days in a time zone', anomaly({ period: '1d', timezone: 'Asia/Kolkata' }), { offsetMs: 30 * MINUTE_MS }],
    ['hours in a time zone', anomaly({ timezone: 'Asia/Kolkata' }), { offsetMs: 0 }],
    [
      'days in a time zone with a quarter-hour offset',
      anomaly({ period: '1w', timezone: 'Asia/Kathmandu' }),
      { offsetMs: 15 * MINUTE_MS },
    ],
  ])('have the expected scope: %s', (_, input, expected) => {
    const scopes = scopesOf(input)
    expect(scopes.map(({ domainId }) => domainId)).toEqual(['dom_a', 'dom_b'])
    for (const scope of scopes) expect(scope).toMatchObject({ orgId: 'org_a', ...expected })
  })

  test('belong to the domains that the alert watches', () => {
    expect(scopesOf(anomaly({ domainIds: ['dom_b', 'dom_gone'] })).map(({ domainId }) => domainId)).toEqual(['dom_b'])
  })

  test('have a default sensitivity of 4 deviations', () => {
    expect(sensitivityOf(anomaly())).toBe(4)
  })
})

const low: Partial<VerdictRow> = {
  state: 'low',
  open: true,
  alarm: true,
  down: true,
  observed: 13,
  expected: 95.4,
  low: 53,
}

function rowOf(values: Partial<VerdictRow> = {}): VerdictRow {
  const scope = { ...(scopesOf(every)[0] ?? missing()) }
  return {
    scope,
    domainId: 'dom_a',
    vendor: 'ga4',
    event: 'purchase',
    sensitivity: 5,
    muted: false,
    state: 'normal',
    learningUntil: null,
    observed: 90,
    expected: 95.4,
    low: 53,
    high: 150,
    open: false,
    alarm: false,
    down: false,
    explained: false,
    explains: false,
    silentSince: null,
    lastEventAt: NOON - MINUTE_MS,
    score: 9,
    at: NOON,
    since: NOON - HOUR_MS,
    ...values,
  }
}

const missing = (): never => {
  throw new Error('no series is monitored')
}

const judge = (input: AlertInput, rows: VerdictRow[]) =>
  volumeAnomaly.judge(alertOf(input), rows, HOUR_BEFORE_NOON, domainsNamed('dom_a', 'dom_b'))
const summaryOf = (values: Partial<VerdictRow>) => judge(anomaly(), [rowOf({ open: true, ...values })])[0]?.summary

describe('a finding of a volume anomaly alert', () => {
  test('names the vendor and event of an open series', () => {
    const findings = judge(anomaly(), [
      rowOf(low),
      rowOf(),
      rowOf({ ...low, domainId: 'dom_b', event: null, alarm: false }),
    ])
    expect(findings).toEqual([
      {
        domainId: 'dom_a',
        subject: 'ga4 purchase',
        vendor: 'ga4',
        event: 'purchase',
        occurrences: 1,
        summary: '13 events from 1 Apr 2026, 11:00 to 12:00 UTC, about 95 expected',
        observed: 13,
        expected: 95,
        firstAt: NOON - HOUR_MS,
        lastAt: NOON - 1,
        hosts: [],
        sample: null,
        sampleSeq: null,
      },
      expect.objectContaining({ domainId: 'dom_b', subject: 'ga4', event: null, continues: true }),
    ])
  })

  test.each<[string, Partial<VerdictRow>, string]>([
    [
      'silent',
      { ...low, state: 'silent', silentSince: NOON - 90 * MINUTE_MS, observed: 0, expected: 28.4, low: null },
      'no event since 1 Apr 2026, 10:30 UTC, about 28 expected',
    ],
    [
      'high',
      { state: 'high', alarm: true, observed: 1400 },
      '1,400 events from 1 Apr 2026, 11:00 to 12:00 UTC, about 95 expected',
    ],
    [
      'one event',
      { ...low, observed: 1, expected: 6.26 },
      '1 event from 1 Apr 2026, 11:00 to 12:00 UTC, about 6.3 expected',
    ],
    [
      'low over several hours',
      { ...low, observed: 70 },
      '70 events from 1 Apr 2026, 11:00 to 12:00 UTC, about 95 expected; too few over recent hours',
    ],
    [
      'still ongoing',
      { ...low, alarm: false, observed: 90 },
      '90 events from 1 Apr 2026, 11:00 to 12:00 UTC, about 95 expected; still ongoing',
    ],
    [
      'no expected count',
      { state: 'high', alarm: true, observed: 900, expected: null, low: null, high: 300 },
      '900 events from 1 Apr 2026, 11:00 to 12:00 UTC, expected count unknown',
    ],
  ])('has the expected summary: %s', (_, values, expected) => {
    expect(summaryOf(values)).toBe(expected)
  })
})

test('a summary shows times in the time zone of the organization', () => {
  const domains = domainsNamed('dom_a').map((domain) => ({ ...domain, timezone: 'Europe/Berlin' }))
  const [finding] = volumeAnomaly.judge(alertOf(anomaly()), [rowOf({ open: true, ...low })], HOUR_BEFORE_NOON, domains)
  expect(finding?.summary).toStartWith('13 events from 1 Apr 2026, 13:00 to 14:00 CEST, ')
})

describe('an anomaly alert for all signals', () => {
  const whole = { vendor: null, event: null }
  const summariesOf = (rows: VerdictRow[]) =>
    judge(every, rows).map(({ subject, continues = false, explainedBy = null }) => [subject, continues, explainedBy])

  test.each<[string, VerdictRow[], ReturnType<typeof summariesOf>]>([
    ['nothing is open', [rowOf(whole), rowOf()], []],
    [
      'one signal is open',
      [rowOf(whole), rowOf(low), rowOf({ ...low, event: 'view', alarm: false })],
      [
        ['ga4 purchase', false, null],
        ['ga4 view', true, null],
      ],
    ],
    ['a muted signal is open', [rowOf(whole), rowOf({ ...low, muted: true })], []],
    ['the domain dropped without its signals', [rowOf({ ...low, ...whole })], []],
    ['the whole domain is high', [rowOf({ ...whole, state: 'high', open: true, alarm: true })], []],
    [
      'the domain dropped',
      [rowOf({ ...low, ...whole, explains: true }), rowOf({ ...low, alarm: false, explained: true })],
      [
        ['', false, null],
        ['ga4 purchase', true, ''],
      ],
    ],
    [
      'one domain dropped, and a signal of another',
      [rowOf({ ...low, ...whole, explains: true, alarm: false }), rowOf({ ...low, domainId: 'dom_b' })],
      [
        ['', true, null],
        ['ga4 purchase', false, null],
      ],
    ],
  ])('has the expected findings: %s', (_, rows, expected) => {
    expect(summariesOf(rows)).toEqual(expected)
  })

  test('names the cause of an explained finding', () => {
    const [cause, finding] = judge(every, [
      rowOf({ ...low, ...whole, explains: true }),
      rowOf({ ...low, explained: true }),
    ])
    expect(cause?.summary).toBe(
      'all traffic of the domain dropped: 13 events from 1 Apr 2026, 11:00 to 12:00 UTC, about 95 expected',
    )
    expect(finding?.summary).toEndWith('about 95 expected; all traffic of the domain dropped')
    expect(cause).toMatchObject({ vendor: null, event: null })
  })
})

test('is evaluated at ticks in partial windows, and counts how often it fired', () => {
  expect(volumeAnomaly.evaluated).toBe('along a series')
  expect([isPartial(volumeAnomaly), volumeAnomaly.messages.countsFirings]).toEqual([true, true])
})
