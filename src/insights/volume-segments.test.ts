import { expect, test } from 'bun:test'
import { memoryDb } from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import { volumeSegments } from './volume-segments.ts'

const NOW = Date.UTC(2026, 0, 5, 12)

test.each([
  [{ from: NOW, to: NOW }, 'query.from: must be before to'],
  [{ from: NOW - 32 * DAY_MS, to: NOW }, 'query.from: must be at most 31 days before to'],
  [{ baselineFrom: NOW }, 'query.baselineFrom: must be before baselineTo'],
  [{ baselineFrom: NOW - 60 * DAY_MS }, 'query.baselineFrom: must be at most 31 days before baselineTo'],
])('an invalid period is rejected, naming the field: %j', async (input, error) => {
  const sources = { privacy: () => ({}), domains: () => [] } as never
  const caller = { principal: { orgId: 'org_a' }, now: NOW } as never
  expect(volumeSegments.answer(sources, input, caller)).rejects.toThrow(error)
})

test('by default, the last 24 hours are compared with the same hours of the week before', async () => {
  const windows: unknown[] = []
  const history = {
    async query<T>({ window }: { window: object }): Promise<T[]> {
      windows.push(window)
      return []
    },
  }
  const sources = { privacy: () => ({}), domains: () => [], history, db: memoryDb() } as never
  const answer = await volumeSegments.answer(sources, {}, { principal: { orgId: 'org_a' }, now: NOW } as never)
  expect(windows[0]).toEqual({ from: NOW + 1 - 8 * DAY_MS, to: NOW + 1 })
  expect(answer.summary).toBe('No segment stands out: there are no earlier events to compare.')
})
