import { describe, expect, test } from 'bun:test'
import { addResults, plantedResults, type Results, rightShares } from './planted-causes.fixture.ts'

const SHOPS = 200
/** Last shop of each part. Each part has its own time limit, and the largest shops take longest. */
const ENDS = [100, 150, 175, 190, SHOPS]

describe.each([
  ['all events', false, 100_000],
  ['sampled events', true, 200_000],
])('the planted cause is found in 200 shops of 500 to 500,000 events: %s', (_, sampled, seed) => {
  const results: Results = {}

  test.each(ENDS)('up to shop %d', async (to) => {
    const from = Math.max(0, ...ENDS.filter((end) => end < to))
    const found = await plantedResults({ shops: SHOPS, largest: 500_000, seed, sampled, from, to })
    expect(Object.keys(found)).not.toEqual([])
    addResults(results, found)
  })

  test('in all shops together', () => {
    expect(rightShares(results).none).toBeGreaterThanOrEqual(0.97)
    const causes = Object.entries(results).filter(([name]) => name.startsWith('cause'))
    expect(causes).toHaveLength(3)
    for (const [name, { right, all }] of causes)
      expect([name, right / all >= 0.95 ? 'enough' : right / all]).toEqual([name, 'enough'])
  })
})
