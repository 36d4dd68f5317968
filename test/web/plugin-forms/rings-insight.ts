import { Closed, Int, Text, Type } from '../../../src/core/schema.ts'
import { insight } from '../../../src/insights/insight.ts'

/** An insight that exists only in this test. */
export const rings = insight({
  id: 'countRings',
  summary: 'Count the rings of pagers',
  path: '/rings',
  isQuick: true,
  input: Closed({
    team: Type.Optional(Text(1, 100, { title: 'Team', description: 'Team of the pagers; default: all' })),
  }),
  output: Closed({ rings: Int({ description: 'Number of rings' }) }, { $id: 'Rings', examples: [{ rings: 3 }] }),
  answer: async () => ({ rings: 3 }),
})
