import { expect, test } from 'bun:test'
import { plantedResults, rightShares } from './planted-causes.fixture.ts'

test.each([
  ['all events', false, 100_000],
  ['sampled events', true, 200_000],
])('the planted cause is found in 200 shops of 500 to 500,000 events: %s', async (_, sampled, seed) => {
  const results = await plantedResults({ shops: 200, largest: 500_000, seed, sampled })
  expect(rightShares(results).none).toBeGreaterThanOrEqual(0.97)
  const causes = Object.entries(results).filter(([name]) => name.startsWith('cause'))
  expect(causes).toHaveLength(3)
  for (const [name, { right, all }] of causes)
    expect([name, right / all >= 0.95 ? 'enough' : right / all]).toEqual([name, 'enough'])
})
