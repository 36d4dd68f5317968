import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { SEGMENT_AGE_MS } from './flush-spool.ts'

async function flush(app: TestApp): Promise<void> {
  app.clock.advance(SEGMENT_AGE_MS)
  await app.run('flush')
}

const eventsIn = async (app: TestApp): Promise<string[]> => {
  const { body } = await app.call('GET', '/v1/events?limit=200')
  return body.events.map(({ id }: { id: string }) => id).toSorted()
}

test('every event is stored and counted once after any repeats, flushes, compactions, stops and kills', async () => {
  const aStep = fc.oneof(
    { weight: 5, arbitrary: fc.nat(6) },
    {
      weight: 3,
      arbitrary: fc.constantFrom('flush' as const, 'compact' as const, 'crash' as const, 'restart' as const),
    },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 4, maxLength: 14 }), async (steps) => {
      await using app = await testApp()
      const { token } = (await app.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
      const expected = new Set<string>()
      for (const step of steps) {
        if (typeof step === 'number') {
          const ids = [0, 1].map((n) => `event ${step} ${n}`)
          for (const id of ids) expected.add(id)
          const events = [...ids.map((id) => ({ vendor: 'Shop API', event: 'order', id })), 'bad']
          const { body } = await app.collect(token, { batchId: `batch-000${step}`, events })
          expect([body.accepted, body.rejected]).toEqual([2, 1])
        } else if (step === 'flush') await flush(app)
        else if (step === 'compact') {
          app.clock.advance(HOUR_MS + 3 * MINUTE_MS)
          await app.run('flush', 'compact')
        } else await app[step]()
      }
      const ids = [...expected].toSorted()
      expect(await eventsIn(app)).toEqual(ids)
      await flush(app)
      expect(await eventsIn(app)).toEqual(ids)
      expect((await app.call('GET', '/v1/usage')).body.totalEvents).toBe(ids.length)
      const { rejections } = (await app.call('GET', '/v1/events/rejected')).body
      expect(rejections.map(({ count }: { count: number }) => count)).toEqual(ids.length > 0 ? [ids.length / 2] : [])
    }),
    { numRuns: 8 },
  )
})
