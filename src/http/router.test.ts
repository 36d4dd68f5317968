import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { client, memoryDb, testClock } from '../../test/fixtures.ts'
import { atLeast, ROLES } from '../contract/roles.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, OneOf, Type } from '../core/schema.ts'
import { noteAddress, type Origin } from './client-info.ts'
import { answerErrors } from './error-responses.ts'
import { performer } from './perform-call.ts'
import { PERMISSIONS, type Permission, requirePermission } from './permission.ts'
import type { Principal } from './principal.ts'
import { publicRoute, type Route, route } from './route.ts'
import { type Authenticate, router } from './router.ts'

const ROWS = (Object.keys(PERMISSIONS) as Permission[]).filter((row) => row !== 'public')

function principalOf(name: string | undefined): Principal {
  const [role, mark] = name?.split(' ') ?? []
  const known = ROLES.find((each) => each === role)
  if (!known) throw new AppError('unauthorized', 'unknown credential')
  return {
    via: 'key',
    userId: 'usr_1',
    orgId: 'org_1',
    role: known,
    readOnly: mark === 'readonly',
    keyId: 'key_1',
    sessionId: null,
  }
}

function postAndGet(access: Exclude<Permission, 'public'>): Route[] {
  const shared = { access, tag: 'Test', summary: 'Test' } as const
  return [
    route({
      ...shared,
      id: `post-${access}`,
      method: 'POST',
      path: `/v1/${access}`,
      body: Closed({ n: Int() }),
      status: 201,
      answer: Closed({ role: OneOf(ROLES), n: Int() }),
      handle: ({ principal: { role }, body: { n } }) => ({ role, n }),
    }),
    route({
      ...shared,
      id: `get-${access}`,
      method: 'GET',
      path: `/v1/${access}/{id}`,
      params: Closed({ id: Type.String({ maxLength: 5 }) }),
      query: Closed({
        n: Type.Optional(Int({ minimum: 1, maximum: 9 })),
        q: Type.Optional(Type.String({ maxLength: 5 })),
        on: Type.Optional(Type.Boolean()),
      }),
      answer: Closed({ id: Type.String(), query: Type.Unknown() }),
      handle: ({ params: { id }, query }) => ({ id, query }),
    }),
  ]
}

/** Names passed to authentication, except in the second call after the body has been received. */
const authenticated: string[] = []
const authenticate: Authenticate = (headers, options) => {
  const name = headers.get('authorization')?.replace('Bearer ', '')
  if (!options?.again) authenticated.push(name ?? '')
  return principalOf(name)
}
const routes = [
  ...ROWS.flatMap((row) => postAndGet(row as Exclude<Permission, 'public'>)),
  publicRoute({
    id: 'open',
    method: 'GET',
    path: '/open',
    tag: 'Test',
    summary: 'Test',
    produces: 'text/plain',
    answer: Type.String(),
    handle: ({ origin }: { origin: Origin }) => JSON.stringify(origin),
  }),
]
const world = { db: memoryDb(), clock: testClock(), authenticate }
const call = client(world, ...routes)

describe('a role', () => {
  test('includes the permissions of lower roles', () => {
    const may = ROLES.map((role) => ROLES.filter((needed) => atLeast(role, needed)))
    expect(may).toEqual(ROLES.map((_, at) => ROLES.slice(0, at + 1)))
  })

  test.each<[string, Permission[]]>([
    ['viewer', ['read', 'own']],
    ['member', ['read', 'own', 'edit', 'seeTokens', 'seePersonal']],
    ['admin', ['read', 'own', 'edit', 'seeTokens', 'seePersonal', 'configure', 'seeSettings', 'administer']],
    ['owner', ROWS],
    ['viewer readonly', ['read']],
    ['member readonly', ['read', 'seePersonal']],
    ['owner readonly', ['read', 'seePersonal', 'seeSettings']],
  ])('such as %s has the permissions %j', async (who, allowed) => {
    for (const row of ROWS) {
      const expected = allowed.includes(row)
      const posted = await call('POST', `/v1/${row}`, { as: who, body: { n: 1 } })
      expect([row, posted.status]).toEqual([row, expected ? 201 : 403])
      expect((await call('GET', `/v1/${row}/a`, { as: who })).status).toBe(expected ? 200 : 403)
      if (expected) expect(posted.body).toEqual({ role: who.split(' ')[0], n: 1 })
    }
  })

  test('that is insufficient is rejected with the name of the required role', () => {
    const refused = (who: string, row: Permission) => () => requirePermission(principalOf(who), row)
    expect(refused('viewer', 'configure')).toThrow('this requires the role admin; yours is viewer')
    expect(refused('owner readonly', 'own')).toThrow('this key is read-only')
  })
})

/** Rejected bodies from a caller with permission, and the expected errors. */
const BAD: [string, string | undefined, Record<string, string>, number, string][] = [
  ['not JSON', '{broken', {}, 400, 'body: is not valid JSON'],
  ['another content type', '{"n": 1}', { 'content-type': 'text/plain' }, 415, 'content-type: must be application/json'],
  ['a form', 'n=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'content-type: '],
  ['a value that does not match the schema', '{"n": "x"}', {}, 400, 'n: must be a whole number'],
  ['a fraction', '{"n": 1.5}', {}, 400, 'n: must be a whole number'],
  ['an unknown field', '{"n": 1, "m": 1}', {}, 400, 'm: there is no such field'],
  ['a list', '[]', {}, 400, 'body: must be an object'],
  ['nothing', undefined, {}, 400, 'body: '],
  ['an empty string', '', {}, 400, 'body: '],
  ['a body that is too large', `{"n": 1, "pad": "${'x'.repeat(65_536)}"}`, {}, 413, 'body: is larger than 65536 bytes'],
  ['half a character', '{"n": 1, "deep": ["\\ud800"]}', {}, 400, 'deep[0]: '],
  ['a NUL character', '{"n": 1, "a\\u0000": 1}', {}, 400, 'body: contains a NUL'],
]

describe('an invalid body', () => {
  test.each(BAD)('is rejected with the reason if it is %s', async (_what, body, headers, status, error) => {
    const answer = await call('POST', '/v1/edit', { as: 'owner', body, headers })
    expect([answer.status, answer.body]).toEqual([status, { error: expect.stringContaining(error) }])
  })

  test.each(BAD)('is not reported to a caller without credentials if it is %s', async (_what, body, headers) => {
    const answer = await call('POST', '/v1/edit', { as: 'nobody', body, headers })
    expect([answer.status, answer.body]).toEqual([401, { error: 'unknown credential' }])
  })

  test.each(BAD)('is not reported to a caller without permission if it is %s', async (_what, body, headers) => {
    const answer = await call('POST', '/v1/configure', { as: 'member', body, headers })
    expect([answer.status, answer.body]).toEqual([403, { error: 'this requires the role admin; yours is member' }])
  })

  test.each([
    ['nobody', 401],
    ['viewer', 403],
  ])("is checked against the sender's permissions after it has arrived: %s", async (then, status) => {
    let present = 'member'
    const pull = (stream: ReadableStreamDefaultController) => {
      present = then
      stream.enqueue(new TextEncoder().encode('{"n": 1}'))
      stream.close()
    }
    // Without an internal queue, the stream is pulled only when the body is read.
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://localhost/v1/edit', { method: 'POST', headers, body })
    const perform = performer({ db: world.db, audit: () => {} })
    const app = answerErrors(new Elysia({ normalize: false }), () => {})
    app.use(router(routes, { authenticate: () => principalOf(present), perform }))
    expect((await app.handle(request)).status).toBe(status)
  })

  test.each([
    ['nobody', 401],
    ['viewer', 403],
  ])('is not read before the caller is rejected: %s', async (who, status) => {
    const request = new Request('http://localhost/v1/edit', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${who}` },
      body: '{"n": 1}',
    })
    const app = answerErrors(new Elysia({ normalize: false }), () => {})
    app.use(router(routes, { authenticate, perform: performer({ db: world.db, audit: () => {} }) }))
    const response = await app.handle(request)
    expect([response.status, request.bodyUsed]).toEqual([status, false])
  })
})

test('JSON is accepted with a character set, in any case', async () => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON']) {
    const headers = { 'content-type': type }
    expect((await call('POST', '/v1/edit', { as: 'member', body: { n: 1 }, headers })).status).toBe(201)
  }
})

describe('a query string', () => {
  test.each<[string, unknown]>([
    ['', {}],
    ['?n=9&q=12345&on=true', { n: 9, q: '12345', on: true }],
    ['?on=false', { on: false }],
    ['?q=', { q: '' }],
    ['?q=7', { q: '7' }],
    ['?q=%F0%9F%98%80', { q: '😀' }],
    ['?n=1e0', { n: 1 }],
  ])('is parsed according to its schema: %s', async (query, read) => {
    const { status, body } = await call('GET', `/v1/read/a${query}`, { as: 'viewer' })
    expect([status, body]).toEqual([200, { id: 'a', query: read }])
  })

  test.each<[string, string]>([
    ['?n=0', 'query.n: must be at least 1'],
    ['?n=10', 'query.n: must be at most 9'],
    ['?n=x', 'query.n: must be a whole number'],
    ['?n=', 'query.n: must be a whole number'],
    ['?n=%201', 'query.n: must be a whole number'],
    ['?n=0x1', 'query.n: must be a whole number'],
    ['?n=Infinity', 'query.n: must be a whole number'],
    ['?n=1.5', 'query.n: must be a whole number'],
    ['?n=1&n=2', 'query.n: is given more than once'],
    ['?on=yes', 'query.on: must be true or false'],
    ['?q=123456', 'query.q: must have at most 5 characters'],
    ['?q=%00', 'query.q: contains a NUL character'],
    ['?other=1', 'query.other: there is no such field'],
    ['?__proto__=1', 'query.__proto__: there is no such field'],
    ['?constructor=1', 'query.constructor: there is no such field'],
  ])('that does not match its schema is rejected with the parameter name: %s', async (query, error) => {
    const answer = await call('GET', `/v1/read/a${query}`, { as: 'viewer' })
    expect([answer.status, answer.body.error.startsWith(error), answer.body.error]).toEqual([
      400,
      true,
      answer.body.error,
    ])
  })

  test('that is invalid is reported only to callers with permission', async () => {
    const statuses = []
    for (const as of ['member', 'viewer', 'nobody']) statuses.push((await call('GET', '/v1/edit/a?n=x', { as })).status)
    expect(statuses).toEqual([400, 403, 401])
  })
})

test('an invalid path parameter is rejected with its name', async () => {
  const answer = await call('GET', '/v1/read/abcdef', { as: 'viewer' })
  expect([answer.status, answer.body.error]).toEqual([400, 'path.id: must have at most 5 characters'])
})

test('a caller is authenticated once per request', async () => {
  authenticated.length = 0
  await call('POST', '/v1/edit', { as: 'member', body: { n: 1 } })
  await call('GET', '/v1/read/a', { as: 'viewer' })
  expect(authenticated).toEqual(['member', 'viewer'])
})

test('responses are not cached and cannot be framed', async () => {
  for (const as of ['viewer', 'nobody']) {
    const { headers } = await call('GET', '/v1/read/a', { as })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('access-control-allow-origin')).toBeNull()
  }
})

test("a public route requires no credentials, and receives the caller's address and user agent", async () => {
  authenticated.length = 0
  const app = router(routes, { authenticate, perform: performer({ db: world.db, audit: () => {} }) })
  const request = new Request('http://localhost/open', { headers: { 'user-agent': 'a'.repeat(500) } })
  noteAddress(request, '192.0.2.7')
  const response = await app.handle(request)
  expect([response.status, response.headers.get('content-type'), authenticated]).toEqual([200, 'text/plain', []])
  expect(await response.json()).toEqual({ address: '192.0.2.7', userAgent: 'a'.repeat(200) })
})
