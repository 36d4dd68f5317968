import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { english } from '../messages.ts'
import { ApiError } from './api-error.ts'
import { serveBytes, servePages } from './page-server.fixture.ts'

const json = (body: unknown, init?: ResponseInit) => Response.json(body, init)
const loadModules = async () => ({ ...(await import('./request.ts')), ...(await import('./session.ts')) })

/** Returns the error with which the promise fails. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  const [{ status, ...outcome }] = await Promise.allSettled([promise])
  expect(status).toBe('rejected')
  return (outcome as { reason: unknown }).reason
}

test('a request has the credential and the organization of the session', async () => {
  using server = await servePages(() => json({}))
  const { send, session } = await loadModules()
  await send({ method: 'GET', path: '/v1/a' })
  await send({ method: 'GET', path: '/v1/a' }, { auth: 'ak_2' })
  await send({ method: 'GET', path: '/v1/a', isPublic: true })
  session.open({ credential: 'ak_3', orgId: null })
  await send({ method: 'GET', path: '/v1/a' })
  session.close()
  await send({ method: 'GET', path: '/v1/a' })
  const sent = server.received.map(({ headers }) => [headers.get('authorization'), headers.get('x-org-id')])
  expect(sent).toEqual([
    ['Bearer st_1', 'org_1'],
    ['Bearer ak_2', 'org_1'],
    [null, 'org_1'],
    ['Bearer ak_3', null],
    [null, null],
  ])
})

test('only a body has a content type, and given headers are sent', async () => {
  using server = await servePages(() => json({}))
  const { send } = await loadModules()
  const body = { name: 'Käse "1" \u2028', of: [null, 0, false] }
  await send({ method: 'POST', path: '/v1/a' }, { body })
  await send({ method: 'PUT', path: '/v1/a' }, { body: null, headers: { 'X-Own': 'yes' } })
  await send({ method: 'DELETE', path: '/v1/a' })
  const [post, put, remove] = server.received
  expect([post?.method, put?.method, remove?.method]).toEqual(['POST', 'PUT', 'DELETE'])
  expect(JSON.parse(post?.body ?? '')).toEqual(body)
  expect([put?.body, put?.headers.get('x-own')]).toEqual(['null', 'yes'])
  expect(remove?.body).toBe('')
  const types = server.received.map(({ headers }) => headers.get('content-type'))
  expect(types).toEqual(['application/json', 'application/json', null])
})

test('any path parameter and any query value reaches the server unchanged', async () => {
  using server = await servePages(() => json({}))
  const { send } = await loadModules()
  // URLs can't contain the segments `.` and `..`.
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => one.isWellFormed() && !/^\.\.?$/.test(one))
  await fc.assert(
    fc.asyncProperty(text, fc.array(text, { minLength: 1 }), text, async (id, list, q) => {
      server.received.length = 0
      await send({ method: 'GET', path: '/v1/hosts/{id}/end' }, { path: { id }, query: { list, q } })
      const { pathname, search } = new URL(server.received[0]?.url ?? '', 'http://shop.example')
      expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'v1', 'hosts', id, 'end'])
      const [rawList = '', rawQ = ''] = search.slice(1).split('&')
      expect(rawList.slice('list='.length).split(',').map(decodeURIComponent)).toEqual(list)
      expect(decodeURIComponent(rawQ.slice('q='.length))).toBe(q)
    }),
  )
})

test('undefined and null are not part of the query', async () => {
  using server = await servePages(() => json({}))
  const { send } = await loadModules()
  const query = { a: undefined, b: null, c: 0, d: false, e: '', f: [] }
  await send({ method: 'GET', path: '/v1/a' }, { query })
  await send({ method: 'GET', path: '/v1/a' }, { query: { a: undefined } })
  expect(server.received.map(({ url }) => url)).toEqual(['/v1/a?c=0&d=false&e=&f=', '/v1/a'])
})

test.each<[string, Response, [string, number, number | null]]>([
  ['its message', json({ error: 'name: is too long' }, { status: 400 }), ['name: is too long', 400, null]],
  ['the time to wait', json({ error: 'a' }, { status: 429, headers: { 'retry-after': '7' } }), ['a', 429, 7]],
  [
    'no time to wait for a date',
    json({ error: 'a' }, { status: 503, headers: { 'retry-after': 'Sat, 28 Nov 2026 00:00:00 GMT' } }),
    ['a', 503, null],
  ],
  ['the status text of a page', new Response('<html>', { status: 502 }), ['Bad Gateway', 502, null]],
  ['the status text without a body', new Response(null, { status: 500 }), ['Internal Server Error', 500, null]],
  ...[null, [], 'text', 7, {}, { error: null }, { error: { code: 1 } }].map(
    (body): [string, Response, [string, number, number | null]] => [
      `the status text of ${JSON.stringify(body)}`,
      json(body, { status: 404 }),
      ['Not Found', 404, null],
    ],
  ),
])('a rejected request fails with %s', async (_what, response, expected) => {
  using _server = await servePages(() => response)
  const { operation } = await loadModules()
  const error = await errorOf(operation({ id: 'getHealth', method: 'GET', path: '/v1/a' })())
  expect(error).toBeInstanceOf(ApiError)
  const { message, status, retryAfterS } = error as ApiError
  expect([message, status, retryAfterS]).toEqual(expected)
})

test('401 ends the session whose credential was rejected, and no other', async () => {
  using _server = await servePages(() => json({ error: 'sign in' }, { status: 401 }))
  const { send, session } = await loadModules()
  await errorOf(send({ method: 'POST', path: '/v1/sign-in', isPublic: true }))
  await errorOf(send({ method: 'GET', path: '/v1/a' }, { auth: 'ak_other' }))
  expect(session.state().is).toBe('open')
  await errorOf(send({ method: 'GET', path: '/v1/a' }))
  expect(session.state().is).toBe('ended')
})

test('an aborted request fails with the abort, and its connection is closed', async () => {
  const arrived = Promise.withResolvers<void>()
  const dropped = Promise.withResolvers<void>()
  using _server = await servePages((request) => {
    request.signal.addEventListener('abort', () => dropped.resolve())
    arrived.resolve()
    return new Promise(() => {})
  })
  const { send } = await loadModules()
  const abort = new AbortController()
  const waiting = errorOf(send({ method: 'GET', path: '/v1/a' }, { signal: abort.signal }))
  await arrived.promise
  abort.abort()
  expect(await waiting).toMatchObject({ name: 'AbortError' })
  await dropped.promise
  expect(await errorOf(send({ method: 'GET', path: '/v1/a' }, { signal: abort.signal }))).toMatchObject({
    name: 'AbortError',
  })
})

test('a request that is aborted during the response fails with the abort', async () => {
  const abort = new AbortController()
  using raw = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":', true)
  using _server = await servePages(() => json({}))
  const { readJson, send } = await loadModules()
  const response = await send({ method: 'GET', path: raw.url }, { signal: abort.signal })
  const waiting = errorOf(readJson(response))
  abort.abort()
  expect(await waiting).toMatchObject({ name: 'AbortError' })
})

test.each<[string, string]>([
  ['closes the connection', ''],
  ['sends no HTTP', 'hello\r\n\r\n'],
  ['ends in the middle of the body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":'],
  ['sends a page instead of JSON', 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>'],
])('a server that %s counts as unreachable', async (_what, bytes) => {
  using raw = await serveBytes(bytes)
  using _server = await servePages(() => json({}))
  const { operation } = await loadModules()
  const error = await errorOf(operation({ id: 'getHealth', method: 'GET', path: raw.url })())
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ message: english.shell.unreachable, status: 0, retryAfterS: null })
})

test('an error whose body is cut off has its status', async () => {
  using raw = await serveBytes('HTTP/1.1 503 No\r\nContent-Length: 100\r\n\r\n{"error":')
  using _server = await servePages(() => json({}))
  const { send } = await loadModules()
  const error = await errorOf(send({ method: 'GET', path: raw.url }))
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 503 })
})
