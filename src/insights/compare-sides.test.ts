import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { type ComparisonQuery, requestedComparison } from './compare-sides.ts'

const NOW = Date.UTC(2026, 0, 20, 12)
const PERIODS = { aFrom: NOW - 2 * DAY_MS, aTo: NOW - DAY_MS, bFrom: NOW - DAY_MS, bTo: NOW }
const DOMAIN = { domainId: 'dom_1' }

test.each<[ComparisonQuery, string]>([
  [DOMAIN, 'query.aFrom: a comparison needs aFrom, aTo, bFrom and bTo, or a pair such as aVersion and bVersion'],
  [{ aVersion: 1, bVersion: 2 }, 'query.domainId: is required'],
  [{ ...DOMAIN, aVersion: 1 }, 'query.bVersion: is required with aVersion'],
  [{ ...DOMAIN, bEnv: 'dev' }, 'query.aEnv: is required with bEnv'],
  [{ bDomainId: 'dom_2' }, 'query.aDomainId: is required with bDomainId'],
  [{ ...DOMAIN, ...PERIODS, bTo: undefined as never }, 'query.bTo: is required with aFrom'],
  [{ ...DOMAIN, ...PERIODS, aVersion: 1 }, 'query.aVersion: cannot be combined with aFrom'],
  [{ ...DOMAIN, aEnv: 'prod', bEnv: 'dev', aVersion: 1, bVersion: 2 }, 'query.aEnv: cannot be combined with aVersion'],
  [{ ...DOMAIN, ...PERIODS, hours: 3 }, 'query.hours: cannot be combined with aFrom'],
  [{ ...DOMAIN, aVersion: 1, bVersion: 2, from: NOW - 1, hours: 3 }, 'query.hours: cannot be combined with from'],
  [{ ...DOMAIN, aVersion: 1, bVersion: 2, from: NOW, to: NOW }, 'query.from: must be before to'],
  [{ ...DOMAIN, aVersion: 1, bVersion: 2, from: NOW - 32 * DAY_MS }, 'query.from: must be at most 31 days before to'],
  [{ ...DOMAIN, aVersion: 2, bVersion: 2 }, 'query.bVersion: must differ from aVersion'],
  [{ aDomainId: 'dom_1', bDomainId: 'dom_1' }, 'query.bDomainId: must differ from aDomainId'],
  [{ ...DOMAIN, ...PERIODS, aTo: PERIODS.aFrom }, 'query.aFrom: must be before aTo'],
  [{ ...DOMAIN, ...PERIODS, bTo: NOW + 40 * DAY_MS }, 'query.bFrom: must be at most 31 days before bTo'],
  [{ ...DOMAIN, ...PERIODS, aTo: NOW - 1 }, 'query.bFrom: the period must not overlap the one from aFrom to aTo'],
])('%j is rejected, naming the field', (query, error) => {
  expect(() => requestedComparison(query, NOW)).toThrow(error)
})

test('side A may be later than side B', () => {
  const { aFrom, aTo, bFrom, bTo } = PERIODS
  const { window } = requestedComparison({ ...DOMAIN, aFrom: bFrom, aTo: bTo, bFrom: aFrom, bTo: aTo }, NOW)
  expect(window).toEqual({ from: aFrom, to: bTo })
})

test.each<[ComparisonQuery, { from: number; to: number }]>([
  [{}, { from: NOW + 1 - 168 * HOUR_MS, to: NOW + 1 }],
  [{ hours: 2 }, { from: NOW + 1 - 2 * HOUR_MS, to: NOW + 1 }],
  [
    { hours: 2, to: NOW },
    { from: NOW - 2 * HOUR_MS, to: NOW },
  ],
  [
    { from: NOW - 5, to: NOW },
    { from: NOW - 5, to: NOW },
  ],
])('the common period of %j', (common, window) => {
  for (const pair of [{ aVersion: 1, bVersion: 2 }, { aEnv: 'prod', bEnv: 'dev' } as const])
    expect(requestedComparison({ ...DOMAIN, ...pair, ...common }, NOW).window).toEqual(window)
})
