import { Closed, Int, Text, Type } from '../../../src/core/schema.ts'
import { insight } from '../../../src/insights/insight.ts'

/** A fictional insight. */
export const rings = insight({
  id: 'countRings',
  summary: 'How often pagers rang',
  path: '/rings',
  isQuick: true,
  input: Closed({ team: Type.Optional(Text(1, 100, { title: 'Team', description: 'Whose' })) }),
  output: Closed({ rings: Int({ description: 'How often' }) }, { $id: 'Rings', examples: [{ rings: 3 }] }),
  answer: async () => ({ rings: 3 }),
})
