import { expect, test } from 'bun:test'
import { HOUR_MS, SECOND_MS, systemClock } from '../../src/core/clock.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { openSession } from '../../src/org/session.ts'
import { createUser, initialize } from '../../src/org/store.ts'
import { ask, call, until } from '../run-program.ts'
import { readEventStream, type SentEvent } from '../stream/event-stream-client.ts'
import { type NetworkServer, startNetworkServer } from './network-server.ts'
import { connectTo, requestOf } from './raw-http-connection.ts'

/* Tests the stream of changes over real connections. */

async function withOwner(server: NetworkServer) {
  const { db, box } = server.app
  const owner = { orgName: 'Acme', email: 'alice@example.com', password: null }
  return initialize(db, box, systemClock, owner)
}

async function listen(server: NetworkServer, as: string, lastEventId?: string) {
  const more: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const response = await fetch(`${server.url}/v1/stream`, { headers: { authorization: `Bearer ${as}`, ...more } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(response.headers.get('cache-control')).toBe('no-store')
  return readEventStream(response)
}

const idsOf = (events: readonly SentEvent[]) => events.map(({ data }) => data.id)

test('a change is sent to every stream of the organization when the request completes', async () => {
  await using server = await startNetworkServer()
  const { apiKey } = await withOwner(server)
  const streams = await Promise.all([1, 2, 3].map(() => listen(server, apiKey)))
  await until('pulses', () => streams.every(({ events }) => events[0]?.event === 'pulse'))
  const { id } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'Shop' })
  for (const stream of streams) {
    await until('the domain', () => idsOf(stream.changes).includes(id))
    await stream.leave()
  }
})

test('a pulse reports the state of collection', async () => {
  await using server = await startNetworkServer()
  const { apiKey } = await withOwner(server)
  const pulse = async () => {
    const stream = await listen(server, apiKey)
    const { data } = await until('a pulse', () => stream.events[0] ?? null)
    await stream.leave()
    return data
  }
  const startedAt = Date.now()
  const none = { lastStoredAt: null, eventsPerMinute: 0, gapSince: null }
  expect(await pulse()).toEqual({ at: expect.any(Number), ...none })
  const { token } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'Shop' })
  const events = [1, 2, 3].map(() => ({ vendor: 'Shop', event: 'buy' }))
  await call('POST', `${server.collectUrl}/api/v1/events`, { as: token, body: { events } })
  const after = await pulse()
  expect(after).toMatchObject({ eventsPerMinute: 3, gapSince: null })
  expect(after.lastStoredAt).toBeWithin(startedAt - 1, Date.now() + 1)
})

test('a lost connection resumes at its last position; after a server restart, all data is requested again', async () => {
  let place: string
  {
    await using server = await startNetworkServer()
    const { apiKey } = await withOwner(server)
    const first = await listen(server, apiKey)
    const make = async (name: string) => (await ask('POST', `${server.url}/v1/domains`, apiKey, { name })).id
    const one = await make('One')
    const [heard] = await first.changesWhen('the first', (changes) => idsOf(changes).includes(one))
    place = heard?.id ?? ''
    await first.leave()
    const others = [await make('Two'), await make('Three')]
    const second = await listen(server, apiKey, place)
    const missed = await second.changesWhen('both', (changes) => others.every((id) => idsOf(changes).includes(id)))
    expect([...new Set(idsOf(missed))]).toEqual(others)
    await second.leave()
  }
  await using anew = await startNetworkServer()
  const { apiKey } = await withOwner(anew)
  const third = await listen(anew, apiKey, place)
  expect(await third.changesWhen('a reset', ({ length }) => length > 0)).toMatchObject([{ event: 'reset', data: {} }])
  await third.leave()
})

test('a stream ends soon after sign-out, revocation or expiry of the key, or the end of the membership', async () => {
  await using server = await startNetworkServer()
  const { orgId, userId, apiKey } = await withOwner(server)
  const { db } = server.app
  const session = openSession(db, systemClock, userId, 'password').token
  const key = createKey(db, systemClock, { userId, orgId, name: 'a', expiresInDays: null })
  const soon = createKey(
    db,
    { now: () => Date.now() - 7 * 24 * HOUR_MS + 2 * SECOND_MS },
    { userId, orgId, name: 'b', expiresInDays: 7 },
  )
  const other = createUser(db, systemClock, { email: 'bob@example.com' })
  db.prepare(`INSERT INTO member (orgId, userId, role, createdAt) VALUES (?, ?, 'viewer', 0)`).run(orgId, other.id)
  const bob = createKey(db, systemClock, { userId: other.id, orgId, name: 'c', expiresInDays: null })
  const ending = await Promise.all([session, key.secret, soon.secret, bob.secret].map((as) => listen(server, as)))
  const lasting = await listen(server, apiKey)
  await ask('POST', `${server.url}/v1/auth/logout`, session)
  await ask('DELETE', `${server.url}/v1/keys/${key.id}`, apiKey)
  await ask('DELETE', `${server.url}/v1/org/members/${other.id}`, apiKey)
  for (const stream of ending) await stream.ended()
  expect(lasting.isEnded).toBe(false)
  expect((await call('GET', `${server.url}/v1/stream`, { as: session })).status).toBe(401)
  await lasting.leave()
})

test('a client that does not read its stream delays no other streams, and its missed changes use no memory', async () => {
  await using server = await startNetworkServer()
  const { apiKey } = await withOwner(server)
  const { id } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'Shop' })
  using slow = await connectTo(server.url, requestOf('GET', '/v1/stream', { authorization: `Bearer ${apiKey}` }))
  slow.socket.pause()
  const reader = await listen(server, apiKey)
  const { db } = server.app
  const rename = db.prepare('UPDATE domain SET name = ? WHERE id = ?')
  // More data than fits in all buffers between the server and the client.
  const rounds = 100
  for (let round = 0; round < rounds; round++) {
    db.transaction(() => {
      for (let n = 0; n < 1000; n++) rename.run(`Shop ${round} ${n}`, id)
    })()
    await Bun.sleep(0)
  }
  const before = reader.changes.length
  const last = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'Last' })
  await until('the last change', () => reader.changes.slice(before).some(({ data }) => data.id === last.id))
  let text = ''
  slow.socket.on('data', (piece: Buffer) => {
    text += piece.toString()
  })
  slow.socket.resume()
  await until('the slow caller to catch up', () => text.includes(last.id) || text.includes('event: reset'))
  expect(text.length).toBeLessThan(rounds * 1000 * 100)
  await reader.leave()
})

test('a server shutdown ends all streams immediately', async () => {
  // If shutdown waited for a stream, this test would time out.
  await using server = await startNetworkServer({ stopMs: 600_000 })
  const { apiKey } = await withOwner(server)
  const streams = await Promise.all([1, 2].map(() => listen(server, apiKey)))
  await server.stop()
  for (const stream of streams) await stream.ended()
  expect(server.errors).toEqual([])
})
