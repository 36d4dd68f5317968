import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { EVENTS_PATH } from '../../src/ingest/collector.ts'
import { call } from '../run-program.ts'
import { type NetworkServer, startNetworkServer } from './network-server.ts'
import { connectTo, requestOf } from './raw-http-connection.ts'

const manyHeaders = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'y'.repeat(20)]))
const post = (headers: string, body: string) => `POST /test/echo HTTP/1.1\r\nhost: a\r\n${headers}\r\n${body}`

let server: NetworkServer
beforeAll(async () => {
  server = await startNetworkServer()
})
beforeEach(() => void server.errors.splice(0))
afterAll(() => server[Symbol.asyncDispose]())

describe('a request', () => {
  test.each<[string, string, number]>([
    ['in HTTP/1.0 without a host', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['with a host name of one letter', 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n', 200],
    ['with a host name of three letters', 'GET /healthz HTTP/1.1\r\nhost: abc\r\n\r\n', 200],
    ['without a path', 'GET  HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    ['with an empty host', 'GET /healthz HTTP/1.1\r\nhost:\r\n\r\n', 200],
    ['without a host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['with an invalid host', 'GET /healthz HTTP/1.1\r\nhost: user@x\r\n\r\n', 400],
    ['with two different hosts', 'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', 400],
    ['with the same host twice', 'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n', 400],
    ['with a host and a second, empty host', 'GET /healthz HTTP/1.1\r\nHost: a\r\nhost:\r\n\r\n', 400],
    ['with an empty host and a second host', 'GET /healthz HTTP/1.1\r\nHost:\r\nhost: b\r\n\r\n', 400],
    [
      'to the collector with two different hosts',
      `POST ${EVENTS_PATH} HTTP/1.1\r\nhost: a\r\nhost: b\r\nauthorization: Bearer pt_x\r\n\r\n`,
      400,
    ],
    [
      'to the collector with one host and an invalid token',
      `POST ${EVENTS_PATH} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer pt_x\r\n\r\n`,
      401,
    ],
    ['with an incomplete host', 'GET /healthz HTTP/1.1\r\nhost: [\r\n\r\n', 400],
    ['with an invalid port', 'GET /healthz HTTP/1.1\r\nhost: a:99999\r\n\r\n', 400],
    ['with the URL of another server', 'GET http://other.example/healthz HTTP/1.1\r\nhost: a\r\n\r\n', 200],
    ['with an unknown method', 'BREW /healthz HTTP/1.1\r\nhost: a\r\n\r\n', 0],
    ['with the method TRACE', 'TRACE /healthz HTTP/1.1\r\nhost: a\r\n\r\n', 404],
    ['with the method CONNECT', 'CONNECT other.example:443 HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    ['with OPTIONS *', 'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    ['in TLS on a plain-text port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    ['in HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['with an invalid path', 'GET /v1/%zz%00%ff//../x HTTP/1.1\r\nhost: a\r\n\r\n', 404],
    ['with a path that starts with two slashes', 'GET //healthz HTTP/1.1\r\nhost: a\r\n\r\n', 404],
    ['with 15 KiB of headers', requestOf('GET', '/healthz', { x: 'y'.repeat(15 * 1024) }), 200],
    ['with 17 KiB of headers', requestOf('GET', '/healthz', { x: 'y'.repeat(17 * 1024) }), 431],
    ['with a megabyte of headers', requestOf('GET', '/healthz', { x: 'y'.repeat(1024 * 1024) }), 431],
    ['with 150 headers', requestOf('GET', '/healthz', manyHeaders(150)), 200],
    ['with thousands of headers', requestOf('GET', '/healthz', manyHeaders(3000)), 431],
    ['with a URL of 20 KiB', requestOf('GET', `/healthz?${'q'.repeat(20 * 1024)}`), 431],
    ['with two content lengths', post('content-length: 3\r\ncontent-length: 4\r\n', 'abcd'), 400],
    ['with a content length and chunks', post('content-length: 3\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'), 400],
    ['with a negative content length', post('content-length: -3\r\n', 'abc'), 400],
    ['with a content length that is not a number', post('content-length: 3x\r\n', 'abc'), 400],
    ['with a content length that is too large', post(`content-length: ${'9'.repeat(30)}\r\n`, 'abc'), 400],
    ['with an unknown transfer encoding', post('transfer-encoding: gzip\r\n', 'abc'), 400],
    ['with invalid chunks', post('transfer-encoding: chunked\r\n', 'zz\r\nabc'), 400],
  ])('%s gets the expected response, and the server keeps running', async (_what, text, status) => {
    using caller = await connectTo(server.url, text)
    // An unknown HTTP method closes the connection.
    if (status === 0) await caller.closed()
    else {
      const answer = await caller.answer()
      expect(answer.status).toBe(status)
      if (answer.text !== '' && status >= 400) expect(Object.keys(JSON.parse(answer.text))).toEqual(['error'])
    }
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
    expect(server.errors).toEqual([])
  })

  test('in HTTP/1.0 is read with its body', async () => {
    using caller = await connectTo(server.url, 'POST /test/echo HTTP/1.0\r\ncontent-length: 4\r\n\r\nabcd')
    expect((await caller.answer()).text).toBe('abcd')
    const body = '{"batchId":"12345678","token":"pt_nobody"}'
    using sender = await connectTo(
      server.url,
      `POST ${EVENTS_PATH} HTTP/1.0\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    expect((await sender.answer()).status).toBeOneOf([400, 401])
  })

  test('with a content length that is too small treats the rest as an invalid request', async () => {
    using caller = await connectTo(
      server.url,
      `${requestOf('POST', '/test/echo', { 'content-length': '3' })}abcdef\r\n\r\n`,
    )
    expect((await caller.answer()).text).toBe('abc')
    expect((await caller.answer()).status).toBe(400)
    await caller.closed()
  })

  test('that is pipelined gets its response in order, or the connection is closed', async () => {
    const both = requestOf('GET', '/healthz') + requestOf('GET', '/readyz')
    using caller = await connectTo(server.url, both)
    const [first] = await Promise.allSettled([caller.answer()])
    if (first.status === 'fulfilled') expect(first.value.text).toBe('{"ok":true}')
    else await caller.closed()
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
  })

  test('that fails because of a bug returns no internal details', async () => {
    const { status, body } = await call('GET', `${server.url}/test/throws`)
    expect([status, body]).toEqual([500, { error: 'internal error; see the server log' }])
    expect(server.errors).toEqual([new Error('a bug')])
  })
})

/** Requests of every kind: pages, routes, unknown paths, the collector, and a route with a bug. */
const ANSWERS: [method: string, path: string][] = [
  ...(['/', '/healthz', '/metrics', '/openapi.json', '/docs', '/v1/alerts', '/v1/nothing', '/nothing'] as const).map(
    (path): [string, string] => ['GET', path],
  ),
  ['HEAD', '/healthz'],
  ['POST', '/v1/auth/login'],
  ['POST', '/mcp'],
  ['POST', EVENTS_PATH],
  ['GET', EVENTS_PATH],
  ['OPTIONS', EVENTS_PATH],
  ['GET', '/api/v1/nothing'],
  ['GET', '/test/throws'],
  ['GET', '/test/address'],
]

describe('every response', () => {
  let secure: NetworkServer
  beforeAll(async () => {
    secure = await startNetworkServer({}, { publicUrl: 'https://watch.example' })
  })
  afterAll(() => secure[Symbol.asyncDispose]())

  test.each(ANSWERS)('to %s %s forbids content type sniffing', async (method, path) => {
    const { headers } = await fetch(`${server.url}${path}`, { method })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('strict-transport-security')).toBeNull()
  })

  test.each(ANSWERS)('to %s %s makes browsers require HTTPS if the server uses HTTPS', async (method, path) => {
    const { headers } = await fetch(`${secure.url}${path}`, { method })
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })
})

describe('pages on other sites', () => {
  const preflight = (method: string) => ({
    method: 'OPTIONS',
    headers: {
      origin: 'https://other.example',
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization',
    },
  })
  const allowances = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control'))

  test.each(['/v1/alerts', '/v1/nothing', '/v1/auth/login', '/mcp', '/openapi.json', '/'])(
    'have no cross-origin access to %s',
    async (path) => {
      const { headers } = await fetch(`${server.url}${path}`, preflight('POST'))
      expect(allowances(headers)).toEqual([])
      const direct = await fetch(`${server.url}${path}`, { headers: { origin: 'https://other.example' } })
      expect(allowances(direct.headers)).toEqual([])
    },
  )

  test('can send batches', async () => {
    const { status, headers } = await fetch(`${server.url}${EVENTS_PATH}`, preflight('POST'))
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('the IP address of a caller', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['without a trusted proxy', {}, '198.51.100.1', '127.0.0.1'],
    ['behind a trusted proxy', { trustedProxies: '127.0.0.0/8' }, '198.51.100.1', '198.51.100.1'],
    [
      'behind two trusted proxies',
      { trustedProxies: '127.0.0.1, 10.0.0.0/8' },
      '6.6.6.6, 198.51.100.1, 10.1.1.1',
      '198.51.100.1',
    ],
    ['behind an untrusted proxy', { trustedProxies: '10.0.0.0/8' }, '198.51.100.1', '127.0.0.1'],
  ])('is determined correctly: %s', async (_how, settings, header, expected) => {
    await using server = await startNetworkServer({}, settings)
    using caller = await connectTo(server.url, requestOf('GET', '/test/address', { 'x-forwarded-for': header }))
    expect(JSON.parse((await caller.answer()).text)).toBe(expected)
    // The same header split into several lines.
    const lines = header.split(', ').map((entry) => `X-Forwarded-For: ${entry}\r\n`)
    using again = await connectTo(server.url, `GET /test/address HTTP/1.1\r\nhost: a\r\n${lines.join('')}\r\n`)
    expect(JSON.parse((await again.answer()).text)).toBe(expected)
    using old = await connectTo(server.url, `GET /test/address HTTP/1.0\r\n${lines.join('')}\r\n`)
    expect(JSON.parse((await old.answer()).text)).toBe(expected)
  })

  test('is an IPv4 address, even if the server listens on IPv4 and IPv6', async () => {
    await using server = await startNetworkServer({}, { listen: '[::]:0' })
    const url = `http://127.0.0.1:${new URL(server.url).port}/test/address`
    expect((await call('GET', url)).body).toBe('127.0.0.1')
  })
})
