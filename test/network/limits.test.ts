import { describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { EVENTS_PATH } from '../../src/ingest/collector.ts'
import { call, until } from '../run-program.ts'
import { startNetworkServer } from './network-server.ts'
import { connectTo, requestOf } from './raw-http-connection.ts'

const NEVER = requestOf('GET', '/test/never')
const HEALTH = requestOf('GET', '/healthz')

describe('the response time limit', () => {
  test('ends a request with an explanation', async () => {
    await using server = await startNetworkServer({ answerMs: 50 })
    using caller = await connectTo(server.url, requestOf('GET', '/test/never?secret=1'))
    const { status, headers, text } = await caller.answer()
    expect([status, headers['retry-after'], JSON.parse(text)]).toEqual([
      503,
      '1',
      { error: 'GET /test/never: took longer than 0.05 s' },
    ])
    // The connection stays open, and the late response is dropped.
    server.release()
    caller.socket.write(HEALTH)
    const next = await caller.answer()
    expect([next.status, next.text]).not.toEqual([200, 'released'])
    expect(next.status).toBe(200)
    expect(server.errors).toEqual([])
  })

  test('does not start while the body is being received', async () => {
    await using server = await startNetworkServer({ answerMs: 50 })
    const body = '{"email":"nobody@example.com","password":"wrong wrong"}'
    const head = requestOf('POST', '/v1/auth/login', {
      'content-type': 'application/json',
      'content-length': String(body.length),
    })
    using sender = await connectTo(server.url, `${head}${body.slice(0, 10)}`)
    using other = await connectTo(server.url, NEVER)
    // Waits three times as long as the limit.
    for (let times = 0; times < 3; times++) {
      if (times > 0) other.socket.write(NEVER)
      expect((await other.answer()).status).toBe(503)
    }
    expect(sender.isOpen()).toBe(true)
    sender.socket.write(body.slice(10))
    const { status, text } = await sender.answer()
    // Verifying a password can take longer than the limit of this test.
    expect(status === 401 || text.includes('took longer')).toBe(true)
  })

  test('does not apply to an event stream that has begun', async () => {
    await using server = await startNetworkServer({ answerMs: 50 })
    const stream = await fetch(`${server.url}/test/events`)
    const reader = stream.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n')
    using other = await connectTo(server.url, NEVER)
    expect((await other.answer()).status).toBe(503)
    const ended = await Promise.race([reader?.read().then(() => true), Promise.resolve(false)])
    expect(ended).toBe(false)
    await reader?.cancel()
  })
})

describe('concurrent requests', () => {
  test('are limited by the setting, and a further request is rejected with a retry time', async () => {
    await using server = await startNetworkServer({ countMs: 60_000 }, { maxConnections: '5' })
    const callers = await Promise.all(Array.from({ length: 5 }, () => connectTo(server.url, NEVER)))
    await until('five requests to wait', () => server.waiting() === 5)
    using sixth = await connectTo(server.url, requestOf('GET', '/v1/alerts'))
    const busy = await sixth.answer()
    expect([busy.status, busy.headers['retry-after'], JSON.parse(busy.text)]).toEqual([
      503,
      '1',
      { error: 'the server is processing too many requests' },
    ])
    const { status, headers, body } = await call('POST', `${server.url}${EVENTS_PATH}`, { body: {} })
    expect([status, headers.get('retry-after'), body]).toEqual([503, '1', JSON.parse(busy.text)])
    // A page's script must be able to read the response, which says when to retry.
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
    server.release()
    for (const caller of callers) expect((await caller.answer()).status).toBe(200)
    sixth.socket.write(requestOf('GET', '/v1/alerts'))
    expect((await sixth.answer()).status).toBe(401)
  })
})

const COUNTS_FILES = existsSync('/proc/self/fd') && statSync('/proc/self/fd').size > 0

describe('connections', () => {
  test('do not block other callers when two thousand are idle', async () => {
    // Both ends of each connection are in this process, so the limit must be high.
    await using server = await startNetworkServer({}, { maxConnections: '10000' })
    const idle = await Promise.all(Array.from({ length: 2000 }, () => connectTo(server.url, HEALTH)))
    for (const one of idle) expect((await one.answer()).status).toBe(200)
    const silent = await Promise.all(Array.from({ length: 500 }, () => connectTo(server.url)))
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
    expect([...idle, ...silent].every((one) => one.isOpen())).toBe(true)
    for (const one of [...idle, ...silent]) one.socket.destroy()
    expect(server.errors).toEqual([])
  })

  test.skipIf(!COUNTS_FILES)(
    'that are idle are closed when there are too many, and active ones stay open',
    async () => {
      // Both ends are in this process, so each connection uses two open files.
      const max = statSync('/proc/self/fd').size + 120
      await using server = await startNetworkServer({}, { maxConnections: String(max) })
      using busy = await connectTo(server.url, NEVER)
      await until('a request to wait', () => server.waiting() === 1)
      const few = await Promise.all(Array.from({ length: 10 }, () => connectTo(server.url, HEALTH)))
      for (const one of few) await one.answer()
      expect(few.every((one) => one.isOpen())).toBe(true)
      expect(server.warnings).toEqual([])
      const many = await Promise.all(Array.from({ length: 100 }, () => connectTo(server.url, HEALTH)))
      await until('idle connections to be closed', () => [...few, ...many].every((one) => !one.isOpen()))
      expect(server.warnings).toEqual([
        expect.stringMatching(new RegExp(`^more than ${max} connections: closed \\d+ idle connections$`)),
      ])
      expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
      server.release()
      expect((await busy.answer()).text).toBe('released')
    },
  )

  test('whose clients do not read their responses do not block other callers', async () => {
    await using server = await startNetworkServer()
    const deaf = await Promise.all(Array.from({ length: 5 }, () => connectTo(server.url)))
    for (const one of deaf) {
      one.socket.pause()
      one.socket.write(requestOf('GET', '/test/large'))
    }
    for (let times = 0; times < 20; times++) expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
    for (const one of deaf) one.socket.destroy()
  })
})
