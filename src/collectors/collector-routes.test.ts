import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { collectorOf, listCollectors, markAway, recordContact } from './store.ts'

/** A server that stores its events in ClickHouse, which is away. */
const serverOnClickhouse = () => testApp({ warehouse: 'clickhouse://127.0.0.1:9/tagwarden' })

test('the owner adds a collector, sees its state, and removes it', async () => {
  await using world = await serverOnClickhouse()
  const { clock } = world
  const { db } = world.app
  const empty = await world.call('GET', '/v1/collectors')
  expect(empty).toMatchObject({ status: 200, body: { collectors: [], eventStore: 'clickhouse' } })
  const { status, body } = await world.call('POST', '/v1/collectors', { body: { name: ' frankfurt-1 ' } })
  const { id, name, slot, token } = body
  expect([status, name, slot]).toEqual([201, 'frankfurt-1', 1])
  expect(collectorOf(db, token)?.id).toBe(id)
  const list = async () => (await world.call('GET', '/v1/collectors')).body.collectors
  const unknown = { lastContactAt: null, version: null, lagMs: null, waitingBytes: null, freeBytes: null }
  expect(await list()).toEqual([
    { id, name: 'frankfurt-1', slot: 1, createdAt: clock.now(), status: 'never', ...unknown },
  ])

  const contactAt = clock.now()
  const status1 = {
    instance: 'its folder',
    version: '1.2.3',
    diskBytes: 4000,
    freeBytes: 5000,
    storedThrough: contactAt - 3 * SECOND_MS,
  }
  recordContact(db, id, { status: status1, now: contactAt, isAway: false })
  const state = { lastContactAt: contactAt, version: '1.2.3', lagMs: 3000, waitingBytes: 4000, freeBytes: 5000 }
  expect(await list()).toMatchObject([{ status: 'connected', ...state }])
  clock.advance(2 * MINUTE_MS)
  markAway(db, clock.now(), 0)
  expect(await list()).toMatchObject([{ status: 'away', ...state }])
  expect(JSON.stringify(await list())).not.toContain('token')

  expect((await world.call('POST', '/v1/collectors', { body: { name: 'frankfurt-1' } })).body.error).toBe(
    'name: "frankfurt-1" is taken',
  )
  expect((await world.call('DELETE', `/v1/collectors/${id}`)).status).toBe(200)
  expect((await world.call('DELETE', `/v1/collectors/${id}`)).status).toBe(404)
  expect([await list(), collectorOf(db, token)]).toEqual([[], null])
  const { body: log } = await world.call('GET', '/v1/audit-log')
  expect(log.entries).toContainEqual(
    expect.objectContaining({
      act: 'addCollector',
      target: id,
      note: expect.objectContaining({ name: 'frankfurt-1' }),
    }),
  )
  expect(log.entries).toContainEqual(expect.objectContaining({ act: 'removeCollector', target: id }))
  expect(JSON.stringify(log)).not.toContain(token)
})

test('the list is exported as CSV', async () => {
  await using world = await serverOnClickhouse()
  await world.call('POST', '/v1/collectors', { body: { name: 'a' } })
  const { body } = await world.call('GET', '/v1/collectors', { headers: { accept: 'text/csv' } })
  expect(String(body).split('\r\n')).toEqual([
    'id,name,slot,createdAt,status,lastContactAt,version,lagMs,waitingBytes,freeBytes',
    expect.stringMatching(/^col_\w+,a,1,\d+,never,,,,,$/),
    '',
  ])
})

test('a server that stores events in its data folder has no collectors and says why', async () => {
  await using world = await testApp()
  expect((await world.call('GET', '/v1/collectors')).body).toMatchObject({ collectors: [], eventStore: 'dataFolder' })
  const refused = await world.call('POST', '/v1/collectors', { body: { name: 'a' } })
  expect(refused).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('collectors require ClickHouse') },
  })
})

test('a server with several organizations leaves its collectors to the operator', async () => {
  await using world = await serverOnClickhouse()
  const { id } = (await world.call('POST', '/v1/collectors', { body: { name: 'a' } })).body
  await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const calls = [
    await world.call('GET', '/v1/collectors'),
    await world.call('POST', '/v1/collectors', { body: { name: 'b' } }),
    await world.call('DELETE', `/v1/collectors/${id}`),
  ]
  for (const { status, body } of calls)
    expect([status, body.error]).toEqual([403, expect.stringContaining('only the operator can manage them')])
  expect(listCollectors(world.app.db)).toHaveLength(1)
})
