import { expect, test } from 'bun:test'
import { expectRight, plantedResults } from './planted-causes.fixture.ts'

test.each([
  ['all events', false, 100_000],
  ['sampled events', true, 200_000],
])('the planted cause is found in 200 shops of 500 to 500,000 events: %s', async (_, sampled, seed) => {
  const results = await plantedResults({ shops: 200, largest: 500_000, seed, sampled })
  console.log(results)
  expect(Object.keys(results)).toHaveLength(6)
  expectRight(results, { cause: 0.95, none: 0.97 })
})
