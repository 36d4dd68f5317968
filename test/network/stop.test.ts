import { describe, expect, test } from 'bun:test'
import { call, until } from '../run-program.ts'
import { startNetworkServer } from './network-server.ts'
import { connectTo, requestOf } from './raw-http-connection.ts'

const NEVER = requestOf('GET', '/test/never')
const HALF_BODY = `${requestOf('POST', '/v1/auth/login', { 'content-type': 'application/json', 'content-length': '99' })}{`

describe('a server that is shutting down', () => {
  test('finishes requests in progress and accepts no new ones', async () => {
    await using server = await startNetworkServer()
    using caller = await connectTo(server.url, NEVER)
    using idle = await connectTo(server.url, requestOf('GET', '/healthz'))
    await idle.answer()
    await until('a request to wait', () => server.waiting() === 1)
    const stopped = server.stop()
    await idle.closed()
    await expect(call('GET', `${server.url}/healthz`)).rejects.toThrow()
    server.release()
    expect((await caller.answer()).text).toBe('released')
    await stopped
    await caller.closed()
  })

  test.each<[string, string]>([
    ['without a request', ''],
    ['with an incomplete request head', 'GET /healthz HT'],
    ['that have received a response', requestOf('GET', '/healthz')],
  ])('does not wait for connections %s', async (_what, text) => {
    await using server = await startNetworkServer({ stopMs: 60_000 })
    using _other = await connectTo(server.url, text)
    await call('GET', `${server.url}/healthz`)
    const startedAt = performance.now()
    await server.stop()
    // Shorter than the runtime's own time limit for a request head.
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  test.each<[string, string]>([
    ['a request whose body stops halfway', HALF_BODY],
    ['a request that gets no response', NEVER],
  ])('aborts %s when it takes too long', async (_what, text) => {
    await using server = await startNetworkServer({ stopMs: 100 })
    using slow = await connectTo(server.url, text)
    await call('GET', `${server.url}/healthz`)
    const startedAt = performance.now()
    await server.stop()
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99)
    await slow.closed()
    expect(server.errors).toEqual([])
  })
})
