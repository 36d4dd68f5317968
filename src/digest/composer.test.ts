import { expect, test } from 'bun:test'
import { cast, client, memoryDb, testBox, testClock } from '../../test/fakes.ts'
import { AppError } from '../core/error.ts'
import { createDomain } from '../domains/store.ts'
import { Composer } from './composer.ts'
import { digestRoutes } from './routes.ts'

test.each<[what: string, error: Error, says: string, reported: number]>([
  ['refuses', new AppError('unavailable', 'the query took longer than 20 s'), 'longer than 20 s', 0],
  ['is full', new AppError('rateLimited', 'too many'), 'too many', 0],
  ['breaks', new Error('SELECT secret FROM x'), 'the log of the server', 1],
])('a preview is 503 and nothing else when the engine %s', async (_, error, says, reported) => {
  const db = memoryDb()
  const clock = testClock()
  const { alice } = cast(db, clock)
  createDomain(db, clock, alice.orgId, { name: 'Shop' })
  const reports: unknown[] = []
  const composer = new Composer({
    ...{ db, clock, publicUrl: 'https://watch.example', retentionMs: 1, follower: null as never },
    warehouse: { query: () => Promise.reject(error) },
    watermark: () => clock.now(),
    report: (one) => void reports.push(one),
  })
  const call = client({ db, clock }, ...digestRoutes({ db, clock, box: testBox, composer }))
  const path = '/v1/notifications/digest/preview'
  const { status, body, headers } = await call('POST', path, { as: alice.key, body: {} })
  expect(status).toBe(503)
  expect(body.error).toStartWith('the digest composer is unavailable: ')
  expect(body.error).toContain(says)
  expect(headers.get('retry-after')).toBe('30')
  expect(reports).toHaveLength(reported)
})
