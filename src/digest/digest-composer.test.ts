import { expect, test } from 'bun:test'
import { cast, client, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { createDomain } from '../domains/store.ts'
import type { Principal } from '../http/principal.ts'
import type { Query } from '../warehouse/query.ts'
import { DigestComposer } from './digest-composer.ts'
import { digestRoutes } from './routes.ts'

test.each<[what: string, error: Error, says: string, reported: number]>([
  ['rejects a query', new AppError('unavailable', 'the query took longer than 20 s'), 'longer than 20 s', 0],
  ['has reached its limit', new AppError('rateLimited', 'too many'), 'too many', 0],
  ['fails unexpectedly', new Error('SELECT secret FROM x'), 'see the server log', 1],
])('a preview returns 503 when the engine %s', async (_, error, says, reported) => {
  const db = memoryDb()
  const clock = testClock()
  const { alice } = cast(db, clock)
  createDomain(db, clock, alice.orgId, { name: 'Shop' })
  const reports: unknown[] = []
  const composer = new DigestComposer({
    db,
    clock,
    publicUrl: 'https://watch.example',
    retentionMs: 1,
    maxEventsRead: Number.POSITIVE_INFINITY,
    seriesMonitor: null as never,
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
  expect((await call('POST', path, { as: alice.key })).status).toBe(503)
})

test('results of slow queries are omitted and replaced by a note', async () => {
  const db = memoryDb()
  const clock = testClock()
  const { alice } = cast(db, clock)
  const domainId = createDomain(db, clock, alice.orgId, { name: 'Shop' })
  const row = { domainId, vendor: 'Meta Pixel', event: 'Purchase', weight: 7 }
  const composer = new DigestComposer({
    db,
    clock,
    publicUrl: 'https://watch.example',
    retentionMs: 1,
    maxEventsRead: Number.POSITIVE_INFINITY,
    seriesMonitor: null as never,
    warehouse: {
      // Behaves like the engine when a query is cancelled.
      async query<T>({ name }: Query): Promise<T[]> {
        if (name === 'insights.totals') return [row] as T[]
        if (name === 'insights.sums') return []
        throw new AppError('unavailable', 'the query was stopped')
      },
    },
    watermark: () => clock.now(),
    report: () => {},
  })
  const { orgId, userId } = alice
  const principal: Principal = {
    via: 'key',
    userId,
    orgId,
    role: 'viewer',
    readOnly: true,
    keyId: null,
    sessionId: null,
  }
  const { hasData, html } = await composer.preview(principal, '', new AbortController().signal)
  expect(hasData).toBe(true)
  expect(/Not included[^<]*/.exec(html)?.[0]).toBe(
    'Not included because the query took too long: new parameters, suggestions.',
  )
})
