import { describe, expect, test } from 'bun:test'
import { MAX_BODY_BYTES } from '../../src/http/json-body.ts'
import { EVENTS_PATH } from '../../src/ingest/collector.ts'
import { call, until } from '../run-program.ts'
import { startNetworkServer } from './network-server.ts'
import { connectTo, requestOf } from './raw-http-connection.ts'

/** Routes that read a body before they authenticate the sender. */
const OPEN_ROUTES = ['/v1/auth/login', EVENTS_PATH]
const JSON_TYPE = { 'content-type': 'application/json' }
const SHORT = { bodies: { baseMs: 60, bytesPerSecond: 16 * 1024, checkEveryMs: 20 } }

describe.each(OPEN_ROUTES)('a body sent to %s', (path) => {
  const start = (headers: Record<string, string>, begin: string) =>
    requestOf('POST', path, { ...JSON_TYPE, ...headers }) + begin

  test.each<[string, string]>([
    ['with a content length', start({ 'content-length': '100' }, '{"a"')],
    ['with a content length and no bytes so far', start({ 'content-length': '100' }, '')],
    ['in chunks', start({ 'transfer-encoding': 'chunked' }, '4\r\n{"a"\r\n')],
    ['in chunks, with no chunk so far,', start({ 'transfer-encoding': 'chunked' }, '')],
    [
      'that is compressed, which only one of the routes accepts,',
      start({ 'content-length': '100', 'content-encoding': 'gzip' }, '{'),
    ],
  ])('%s is aborted when no more data arrives', async (_how, text) => {
    await using server = await startNetworkServer(SHORT)
    using sender = await connectTo(server.url, text)
    const { status, headers, text: body } = await sender.answer()
    expect([status, JSON.parse(body), headers.connection]).toEqual([
      400,
      { error: 'body: was not received in time' },
      'close',
    ])
    await sender.closed()
    expect(server.errors).toEqual([])
  })

  test('that arrives slowly is aborted, and other requests are served in the meantime', async () => {
    // Long enough for several requests on a busy machine.
    await using server = await startNetworkServer({ bodies: { ...SHORT.bodies, baseMs: 600 } })
    using sender = await connectTo(server.url, start({ 'content-length': '1000' }, '{'))
    const drip = setInterval(() => sender.socket.write(' '), 5)
    const ended = sender.closed()
    let served = 0
    while (sender.isOpen()) {
      expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
      served++
    }
    clearInterval(drip)
    await ended
    expect(served).toBeGreaterThan(1)
    expect(server.errors).toEqual([])
  })

  test('has a longer time limit if it is larger', async () => {
    const timeouts = { bodies: { baseMs: 50, bytesPerSecond: 1000, checkEveryMs: 10 } }
    await using server = await startNetworkServer(timeouts)
    using small = await connectTo(server.url, start({ 'content-length': '10' }, '{'))
    using large = await connectTo(server.url, start({ 'content-length': '100000' }, '{'))
    expect((await small.answer()).status).toBe(400)
    expect(large.isOpen()).toBe(true)
    large.socket.write(Buffer.alloc(99_999, ' '))
    expect(JSON.parse((await large.answer()).text).error).not.toContain('in time')
  })

  test('in chunks is accepted as long as the chunks arrive fast enough', async () => {
    const timeouts = { bodies: { baseMs: 50, bytesPerSecond: 2500, checkEveryMs: 10 } }
    await using server = await startNetworkServer(timeouts)
    const startedAt = performance.now()
    using sender = await connectTo(server.url, start({ 'transfer-encoding': 'chunked' }, ''))
    // These bytes add 200 ms to the base time.
    sender.socket.write(`1f4\r\n${' '.repeat(500)}\r\n`)
    expect((await sender.answer()).text).toContain('in time')
    expect(performance.now() - startedAt).toBeGreaterThan(245)
  })

  test('whose sender disconnects is not logged as an error', async () => {
    const server = await startNetworkServer()
    for (const headers of [{ 'content-length': '100' }, { 'transfer-encoding': 'chunked' }]) {
      using sender = await connectTo(server.url, start(headers, '1\r\n{\r\n'))
      // Once the server answers this request, it has started to read the first one.
      await call('GET', `${server.url}/healthz`)
      sender.socket.destroy()
      await sender.closed()
    }
    await server[Symbol.asyncDispose]()
    expect(server.errors).toEqual([])
  })

  test('without an end is aborted and not buffered in memory', async () => {
    await using server = await startNetworkServer()
    using sender = await connectTo(server.url, start({ 'transfer-encoding': 'chunked' }, ''))
    const before = process.memoryUsage.rss()
    const piece = Buffer.from(`100000\r\n${' '.repeat(1024 * 1024)}\r\n`)
    const sent = await sender.flood(piece)
    expect(sent).toBeGreaterThan(32 * 1024 * 1024)
    // The extra 48 MiB allow for socket buffers.
    expect(sent).toBeLessThan(MAX_BODY_BYTES + 48 * 1024 * 1024)
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024)
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
    expect(server.errors).toEqual([])
  })
})

describe('a large body', () => {
  const login = '/v1/auth/login'
  /** Maximum size allowed by the schema. */
  const LOGIN_BYTES = 64 * 1024

  test.each<[string, number, boolean]>([
    ['one byte above the limit', LOGIN_BYTES + 1, false],
    ['of 30 MiB', 30 * 1024 * 1024, false],
    ['of 40 MiB', 40 * 1024 * 1024, true],
    ['of 1 PB', 1e15, true],
  ])('%s is rejected in the usual error format', async (_how, bytes, closes) => {
    await using server = await startNetworkServer()
    using sender = await connectTo(
      server.url,
      requestOf('POST', login, { ...JSON_TYPE, 'content-length': String(bytes) }),
    )
    const { status, headers, text } = await sender.answer()
    expect([status, JSON.parse(text)]).toEqual([413, { error: `body: is larger than ${LOGIN_BYTES} bytes` }])
    expect(headers['content-type']).toContain('application/json')
    expect(headers.connection === 'close').toBe(closes)
    if (closes) return sender.closed()
    // A sender that sends everything before it reads can still read the response and continue.
    sender.socket.write(Buffer.alloc(bytes, ' '))
    sender.socket.write(requestOf('GET', '/healthz'))
    expect((await sender.answer()).status).toBe(200)
  })

  test('in chunks above the limit is rejected when it is complete', async () => {
    await using server = await startNetworkServer()
    const chunk = `100000\r\n${' '.repeat(1024 * 1024)}\r\n`
    using sender = await connectTo(
      server.url,
      requestOf('POST', login, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }),
    )
    sender.socket.write(`${chunk.repeat(8)}1\r\n \r\n0\r\n\r\n`)
    const { status, text } = await sender.answer()
    expect([status, JSON.parse(text)]).toEqual([413, { error: `body: is larger than ${LOGIN_BYTES} bytes` }])
  })

  test.each(['content-length', 'transfer-encoding'])('is accepted exactly at the limit (%s)', async (name) => {
    await using server = await startNetworkServer()
    const body = `{"email":"a@example.com","password":"${'x'.repeat(2000)}"}`.padEnd(LOGIN_BYTES, ' ')
    const isChunked = name === 'transfer-encoding'
    const headers = { ...JSON_TYPE, [name]: isChunked ? 'chunked' : String(body.length) }
    using sender = await connectTo(server.url, requestOf('POST', login, headers))
    sender.socket.write(isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body)
    expect((await sender.answer()).status).toBeOneOf([400, 401])
  })
})

test('a body received byte by byte uses little memory', async () => {
  await using server = await startNetworkServer()
  using sender = await connectTo(
    server.url,
    requestOf('POST', '/v1/auth/login', { ...JSON_TYPE, 'transfer-encoding': 'chunked' }),
  )
  const before = process.memoryUsage.rss()
  sender.socket.write('1\r\n \r\n'.repeat(200_000))
  sender.socket.write('0\r\n\r\n')
  expect((await sender.answer()).status).toBe(413)
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024)
})

test('two hundred senders that stop halfway do not block other callers, and all are disconnected', async () => {
  await using server = await startNetworkServer({
    bodies: { baseMs: 300, bytesPerSecond: 16 * 1024, checkEveryMs: 20 },
  })
  const text = `${requestOf('POST', '/v1/auth/login', { ...JSON_TYPE, 'content-length': '99' })}{`
  const senders = await Promise.all(Array.from({ length: 200 }, () => connectTo(server.url, text)))
  expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
  for (const sender of senders) expect((await sender.answer()).status).toBe(400)
  await until('all connections to end', () => senders.every((sender) => !sender.isOpen()))
})
