import { expect, test } from 'bun:test'
import { ALL_SIGNALS, type SeriesScope, SIGNAL_STEP_MS } from './series.ts'
import { SignalChanges } from './signal-changes.ts'
import type { VerdictRow } from './verdict-row.ts'

const scopeOf = (domainId: string, vendor = ALL_SIGNALS): SeriesScope => ({
  orgId: 'org_1',
  domainId,
  vendor,
  event: null,
  sensitivity: 5,
  stepMs: SIGNAL_STEP_MS,
  timezone: 'UTC',
})
const shop = scopeOf('dom_shop')

const rowOf = (event: string, more: Partial<VerdictRow> = {}): VerdictRow => ({
  scope: shop,
  domainId: shop.domainId,
  vendor: 'Shop',
  event,
  sensitivity: 5,
  muted: false,
  open: true,
  alarm: false,
  down: true,
  explained: false,
  explains: false,
  at: 1,
  since: 0,
  state: 'low',
  learningUntil: null,
  observed: 1,
  expected: 9,
  low: 5,
  high: 12,
  silentSince: null,
  lastEventAt: 1,
  score: 7,
  ...more,
})

test('a domain is reported when a signal starts deviating, deviates differently or stops deviating', () => {
  const moved: string[] = []
  const states = new SignalChanges((orgId, domainId) => moved.push(`${orgId} ${domainId}`))
  const ticks: [string, VerdictRow[], boolean][] = [
    ['all signals are normal', [], false],
    ['one is low', [rowOf('buy')], true],
    ['it is even lower', [rowOf('buy', { at: 2, score: 9, observed: 0 })], false],
    ['it is silent', [rowOf('buy', { state: 'silent' })], true],
    ['another is high', [rowOf('buy', { state: 'silent' }), rowOf('view', { state: 'high', down: false })], true],
    ['the first is normal', [rowOf('view', { state: 'high', down: false })], true],
    ['the other deviated only earlier in the window', [rowOf('view', { open: false })], true],
    ['all are normal again', [], false],
  ]
  for (const [what, rows, isTold] of ticks) {
    const before = moved.length
    states.take([shop], rows)
    expect([what, moved.length - before]).toEqual([what, isTold ? 1 : 0])
  }
  expect(new Set(moved)).toEqual(new Set(['org_1 dom_shop']))
})

test('domains are tracked separately, and the series of an alert on one vendor is not a signal', () => {
  const moved: string[] = []
  const states = new SignalChanges((_orgId, domainId) => moved.push(domainId))
  const [blog, one] = [scopeOf('dom_blog'), scopeOf('dom_shop', 'Shop')]
  states.take([shop, blog, one], [rowOf('buy', { scope: blog }), rowOf('buy', { scope: one })])
  expect(moved).toEqual(['dom_blog'])
})
