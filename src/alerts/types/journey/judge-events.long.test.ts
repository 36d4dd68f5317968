import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Condition } from '../../../conditions/condition.ts'
import { warehouseWith } from '../../alert.fixture.ts'
import { arrived, aSession, aSpec, equal, journeyAlert, membersOf, visits, walkAll } from './journey.fixture.ts'
import { judgeEvents } from './judge-events.ts'

test('sessions in memory get the same verdict as stored sessions', async () => {
  const anAlert = fc.record({
    spec: aSpec,
    filters: fc.constantFrom<Condition[]>([], [], [equal('k', '1')], [equal('*', '2'), equal('$vendor', 'a')]),
  })
  let failed = 0
  let judged = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(anAlert, { minLength: 1, maxLength: 8 }),
      fc.array(aSession, { minLength: 1, maxLength: 25 }),
      async (rules, texts) => {
        const events = arrived(visits(texts))
        using history = await warehouseWith(events)
        const [first, ...others] = rules.map(({ spec, filters }, index) =>
          journeyAlert(spec, { filters }, `alr_${index}`),
        )
        if (!first) return
        const findings = await walkAll(history, [first, ...others])
        for (const alert of [first, ...others]) {
          const faults = texts.flatMap(
            (_, index) =>
              judgeEvents(
                alert,
                events.filter(({ sessionId }) => sessionId === `s${index}`),
                membersOf,
              ) ?? [],
          )
          const stored = findings[alert.id]?.reduce((sum, { occurrences }) => sum + occurrences, 0) ?? 0
          expect({ alert, count: faults.length }).toEqual({ alert, count: stored })
          failed += faults.length
          judged += texts.length
        }
      },
    ),
    { numRuns: 60 },
  )
  expect(failed).toBeGreaterThan(judged / 10)
  expect(failed).toBeLessThan(judged * 0.9)
})
