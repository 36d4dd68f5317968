import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { client } from '../../test/fakes.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { type Access, controller, MAX_BODY_BYTES, requireAccess } from './controller.ts'
import { answerErrors } from './errors.ts'
import { atLeast, type Principal, ROLES } from './principal.ts'

const ACCESS: Access[] = ['read', 'own', 'member', 'admin', 'owner']

function principalOf(name: string | undefined): Principal {
  const [role, mark] = name?.split(' ') ?? []
  const known = ROLES.find((each) => each === role)
  if (!known) throw new AppError('unauthorized', 'unknown credential')
  return { via: 'key', userId: 'usr_1', orgId: 'org_1', role: known, readOnly: mark === 'readonly', keyId: 'key_1' }
}

/** Counts how often somebody is looked up. */
function setUp() {
  const asked: string[] = []
  const authenticate = (headers: Headers) => {
    const name = headers.get('authorization')?.replace('Bearer ', '')
    asked.push(name ?? '')
    return principalOf(name)
  }
  let routes = controller(authenticate)
  for (const access of ACCESS) {
    routes = routes.post(`/${access}`, ({ principal, body }) => ({ role: principal.role, body }), {
      access,
      body: Closed({ n: Int() }),
    }) as unknown as typeof routes
    routes = routes.get(`/${access}`, ({ principal }) => ({ role: principal.role }), {
      access,
      query: Closed({ n: Type.Optional(Int()) }),
    }) as unknown as typeof routes
  }
  return { call: client(routes), asked, routes }
}

const { call, asked, routes } = setUp()

describe('a role', () => {
  test('may do what lower ones may', () => {
    const may = ROLES.map((role) => ROLES.filter((needed) => atLeast(role, needed)))
    expect(may).toEqual(ROLES.map((_, at) => ROLES.slice(0, at + 1)))
  })

  test.each([
    ['viewer', ['read', 'own']],
    ['member', ['read', 'own', 'member']],
    ['admin', ['read', 'own', 'member', 'admin']],
    ['owner', ['read', 'own', 'member', 'admin', 'owner']],
    ['viewer readonly', ['read']],
    ['member readonly', ['read']],
    ['owner readonly', ['read']],
  ])('%s has access to %j', async (who, allowed) => {
    for (const access of ACCESS) {
      const expected = allowed.includes(access) ? 200 : 403
      const { status, body } = await call('POST', `/v1/${access}`, { as: who, body: { n: 1 } })
      expect([access, status]).toEqual([access, expected])
      expect((await call('GET', `/v1/${access}`, { as: who })).status).toBe(expected)
      if (status === 200) expect(body).toEqual({ role: who.split(' ')[0], body: { n: 1 } })
    }
  })

  test('that is too low is told what is needed', () => {
    expect(() => requireAccess(principalOf('viewer'), 'admin')).toThrow('this needs the role admin; yours is viewer')
    expect(() => requireAccess(principalOf('owner readonly'), 'own')).toThrow('this key can only read')
  })
})

/** Bodies that a caller who may send them is refused for, and how. */
const BAD: [string, string | undefined, Record<string, string>, number, string][] = [
  ['no JSON', '{broken', {}, 400, 'body: is not valid JSON'],
  ['another type', '{"n": 1}', { 'content-type': 'text/plain' }, 415, 'content-type: must be application/json'],
  ['a form', 'n=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'content-type: '],
  ['what does not fit', '{"n": "x"}', {}, 400, 'n: Expected number'],
  ['a field too many', '{"n": 1, "m": 1}', {}, 400, 'm: Unexpected property'],
  ['nothing', undefined, {}, 400, 'body: '],
  ['an empty text', '', {}, 400, 'body: '],
  [
    'too much',
    `{"n": 1, "pad": "${'x'.repeat(MAX_BODY_BYTES)}"}`,
    {},
    413,
    `body: is larger than ${MAX_BODY_BYTES} bytes`,
  ],
  ['half a character', '{"n": 1, "deep": ["\\ud800"]}', {}, 400, 'deep[0]: '],
  ['a NUL character', '{"n": 1, "a\\u0000": 1}', {}, 400, 'body: has a NUL'],
]

describe('a body that is bad', () => {
  test.each(BAD)('because it is %s is refused, and says why', async (_what, body, headers, status, error) => {
    const answer = await call('POST', '/v1/member', { as: 'owner', body, headers })
    expect([answer.status, answer.body]).toEqual([status, { error: expect.stringContaining(error) }])
  })

  test.each(BAD)('because it is %s says nothing to a stranger', async (_what, body, headers) => {
    const answer = await call('POST', '/v1/member', { as: 'nobody', body, headers })
    expect([answer.status, answer.body]).toEqual([401, { error: 'unknown credential' }])
  })

  test.each(BAD.filter(([what]) => what.includes('fit') || what.includes('field')))(
    'because it is %s says nothing to a caller without the right',
    async (_what, body, headers) => {
      const answer = await call('POST', '/v1/admin', { as: 'member', body, headers })
      expect([answer.status, answer.body]).toEqual([403, { error: 'this needs the role admin; yours is member' }])
    },
  )

  test('is not read before a stranger is refused', async () => {
    const app = answerErrors(new Elysia({ normalize: false }), () => {}).use(routes)
    const request = new Request('http://localhost/v1/member', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer nobody' },
      body: '{"n": 1}',
    })
    const response = await app.handle(request)
    expect([response.status, request.bodyUsed]).toEqual([401, false])
  })
})

test('JSON is taken with a character set, in any case', async () => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON']) {
    const { status } = await call('POST', '/v1/member', {
      as: 'member',
      body: { n: 1 },
      headers: { 'content-type': type },
    })
    expect(status).toBe(200)
  }
})

test('a query that does not fit says so to those who may ask, and to nobody else', async () => {
  const statuses = []
  for (const as of ['member', 'viewer', 'nobody']) statuses.push((await call('GET', '/v1/member?n=x', { as })).status)
  expect(statuses).toEqual([400, 403, 401])
})

test('a caller is looked up once for each request', async () => {
  asked.length = 0
  await call('POST', '/v1/member', { as: 'member', body: { n: 1 } })
  await call('GET', '/v1/read', { as: 'viewer' })
  expect(asked).toEqual(['member', 'viewer'])
})
