import { expect, test } from 'bun:test'
import { usageByDay, usageByDomain } from './usage-summary.ts'

const DAYS = [
  { day: '2026-11-25', domainId: 'dom_a', events: 3 },
  { day: '2026-11-25', domainId: 'dom_b', events: 4 },
  { day: '2026-11-27', domainId: 'dom_a', events: 3 },
]

test('has a bar for every day up to today, which is incomplete', () => {
  expect(usageByDay(DAYS, 4, Date.UTC(2026, 10, 27, 18))).toEqual([
    { start: Date.UTC(2026, 10, 24), value: 0, partial: false },
    { start: Date.UTC(2026, 10, 25), value: 7, partial: false },
    { start: Date.UTC(2026, 10, 26), value: 0, partial: false },
    { start: Date.UTC(2026, 10, 27), value: 3, partial: true },
  ])
})

test('has the total and the share of each domain, largest first', () => {
  expect(usageByDomain(DAYS)).toEqual([
    { domainId: 'dom_a', events: 6, share: 0.6 },
    { domainId: 'dom_b', events: 4, share: 0.4 },
  ])
  expect(usageByDomain([])).toEqual([])
})
