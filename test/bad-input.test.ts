import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS } from '../src/core/clock.ts'
import {
  checkAnswer,
  checkError,
  describedApi,
  nearlyTaken,
  PUBLIC,
  pathOf,
  type Route,
  takenBody,
} from './described-api.ts'
import type { Call } from './fakes.ts'
import { broken, valid } from './json-schema.ts'

/*
 * Every route that the program describes, as it describes itself: a new one is tested here without a line about it,
 * unless it brings a new noun or a body whose fields must fit each other.
 */

const { world, routes, ours, theirs, prey, strangersKey } = await describedApi()
afterAll(() => world[Symbol.asyncDispose]())

const named = (some: readonly Route[]) => some.map((route) => [`${route.method} ${route.path}`, route] as const)
const withBody = routes.filter(({ operation }) => operation.requestBody !== undefined)
const protectedRoutes = routes.filter(({ path }) => !PUBLIC.includes(path))
const withId = routes.filter(({ path }) => path.includes('{id}'))
const send = ({ method }: Route, path: string, call: Call = {}) => world.call(method, path, call)

describe('no credential', () => {
  test.each(named(protectedRoutes))('%s: 401, whatever the body', async (_name, route) => {
    for (const credential of [null, 'ak_nobody-made-this-key', 'st_x', '', 'a b', 'é'.repeat(3000)]) {
      for (const body of route.body ? [takenBody(route), '{', {}] : [undefined]) {
        const answer = await send(route, pathOf(route, ours), { as: credential, body })
        expect(answer.status).toBe(401)
        checkError(answer.body)
      }
    }
  })

  test.each(named(routes.filter(({ path }) => PUBLIC.includes(path))))('%s: 200', async (_name, route) => {
    expect((await send(route, route.path, { as: null })).status).toBe(200)
  })
})

describe('the frame of a body', () => {
  test.each(named(withBody))('%s', async (_name, route) => {
    expect(route.body).not.toBeNull()
    const path = pathOf(route, prey)
    for (const body of ['{', '{"name":', '[1,]', 'nul', '{"a":1}}', '['.repeat(100_000), '"\u0000"', "{'a':1}"]) {
      expect(await send(route, path, { body })).toMatchObject({
        status: 400,
        body: { error: 'body: is not valid JSON' },
      })
    }
    const body = JSON.stringify(takenBody(route))
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'x',
    ]
    for (const type of types) {
      const answer = await send(route, path, { body, headers: { 'content-type': type } })
      expect(answer).toMatchObject({ status: 415, body: { error: 'content-type: must be application/json' } })
    }
    const large = await send(route, path, { body: `{"x":"${'x'.repeat(8 * 1024 * 1024)}"}` })
    expect(large).toMatchObject({ status: 413, body: { error: 'body: is larger than 8388608 bytes' } })
    for (const text of ['\u0000', 'a\u0000b', '\ud800', '\udfff\ud800', 'x\udc00']) {
      for (const [value, field] of [
        [{ name: text }, 'name'],
        [{ a: [0, { b: text }] }, 'a[1].b'],
        [{ [text]: 1 }, 'body'],
      ] as const) {
        const answer = await send(route, path, { body: value })
        expect(answer.status).toBe(400)
        expect(answer.body.error).toBe(`${field}: has a NUL character or half of a surrogate pair`)
      }
    }
    for (const levels of [50, 1000, 50_000, 1_000_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"name":', '}'],
      ] as const) {
        const deep = `{"name":${open.repeat(levels)}1${close.repeat(levels)}}`
        if (deep.length > 8_000_000) continue
        const answer = await send(route, path, { body: deep })
        expect(answer).toMatchObject({ status: 400, body: { error: 'body: is nested more than 50 levels deep' } })
      }
    }
    for (const text of ['null', '[]', '"text"', '5', 'true', `{"name":${'['.repeat(40)}${']'.repeat(40)}}`]) {
      const answer = await send(route, path, { body: text })
      expect(answer.status).toBe(400)
      checkError(answer.body)
    }
  })
})

describe('one thing wrong in a body', () => {
  test.each(named(withBody))('%s: 400 and its name', async (_name, route) => {
    const cases = route.body && broken(route.body)
    if (!cases) throw new Error('nothing can be wrong with this body')
    await fc.assert(
      fc.asyncProperty(cases, async ({ value, field }) => {
        // The whole being no object is tested above.
        fc.pre(field !== '')
        const { status, body } = await send(route, pathOf(route, prey), { body: value })
        // Items of a list that are taken each by itself are refused each by itself.
        const isListed = status === 200 && body.failed > 0
        if (!isListed) expect(status).toBe(400)
        const error: string = isListed ? body.errors[0].error : body.error
        // Of several shapes nobody knows which was meant, so another field may be named first.
        if (hasShapes(route, field)) expect(error).toMatch(/^[a-z]\w*[^ ]*: /i)
        else expect([': ', '.', '['].some((next) => error.startsWith(field + next)) ? field : error).toBe(field)
      }),
      { numRuns: 100 },
    )
  })
})

/** True when the field is part of one that may be of several shapes. */
function hasShapes({ body }: Route, field: string): boolean {
  const schemas = body?.properties?.alerts?.items?.properties ?? body?.properties ?? {}
  const name = field.replace(/^alerts\[0\]\.?/, '').split(/[.[]/)[0] ?? ''
  return JSON.stringify(schemas[name] ?? {}).includes('"anyOf"')
}

describe('ids', () => {
  test.each(named(withId))(
    '%s: 404 for what is not there, and for what is another organization’s',
    async (_name, route) => {
      const body = takenBody(route)
      const noun = /([^/]+)\/\{id\}/.exec(route.path)?.[1] ?? ''
      for (const id of [
        'none',
        `${ours[noun]}x`,
        ours[noun]?.toUpperCase() ?? '',
        theirs[noun] ?? '',
        '__proto__',
        'null',
      ]) {
        const answer = await send(route, pathOf(route, { [noun]: id }), { body })
        expect(answer.status).toBe(404)
        checkError(answer.body)
      }
      const answer = await send(route, pathOf(route, ours), { as: strangersKey, body })
      expect(answer.status).toBe(404)
    },
  )

  const lists = routes.filter(({ method, path }) => method === 'GET' && !path.includes('{'))
  test.each(named(lists))('%s shows nothing of another organization', async (_name, route) => {
    const shown = JSON.stringify((await send(route, route.path, { as: strangersKey })).body)
    for (const id of [world.owner.orgId, world.owner.userId, ...Object.values(ours)]) expect(shown).not.toContain(id)
  })

  const PARTS = [
    '%00',
    '%ff',
    '%',
    '%zz',
    '%2e%2e',
    '..%2f..',
    '%2F',
    '%0d%0ax:y',
    '%F0%9F%98%80',
    '%ED%A0%80',
    "'--",
    '%22',
    '+',
  ]
  test.each(named(routes.filter(({ path }) => path.includes('{'))))('%s in odd encodings', async (_name, route) => {
    const body = takenBody(route)
    for (const part of [...PARTS, 'a'.repeat(20_000), '%41'.repeat(5000)]) {
      for (const name of [...route.path.matchAll(/\{(\w+)\}/g)].map(([, one = '']) => one)) {
        checkAnswer(route, await send(route, pathOf(route, prey, { [name]: part }), { body }))
      }
    }
  })

  test.each([
    ...[
      '/v1',
      '/v1/',
      '//',
      '/v1//alerts',
      '/V1/alerts',
      '/v1/alerts/',
      '/%',
      '/%00',
      '/v1/%61lerts',
      '/v1/alerts/x/y/z',
    ],
    ...['/v1/../v1/alerts', '/v1/alerts%3Flimit=1', '/;', '/\\', `/${'a/'.repeat(5000)}`, '/?'.padEnd(20_000, '&a=%')],
  ])('%p is no route, or the one it means', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status, body } = await world.call(method, path)
      expect([200, 400, 404]).toContain(status)
      if (status !== 200) checkError(body)
    }
  })
})

describe('queries', () => {
  const asking = routes.filter(({ operation }) => operation.parameters?.some((one) => one.in === 'query'))
  const VALUES = [
    ...['', ' ', 'x', '-1', '0', '1', '1.5', '1e3', '1e309', 'NaN', '9007199254740993', '9'.repeat(30), '0x10', 'null'],
    ...[
      '%00',
      '%ff',
      '%',
      '%ED%A0%80',
      '%F0%9F%98%80',
      '[]',
      '{}',
      "'; --",
      '%25',
      '_',
      '\\',
      'a'.repeat(300),
      'a'.repeat(9000),
    ],
  ]
  const cursor = (place: unknown) => Buffer.from(JSON.stringify(place)).toString('base64url')
  const places = [
    [],
    [null],
    ['x'],
    [1],
    [-1],
    [1.5],
    [1e300],
    ['\ud800'],
    ['\u0000'],
    [{}],
    [[1]],
    [1, 2, 3],
    'x',
    { length: 1 },
  ]
  const more = [...places, ['severity', 'x', null, 1e300, 4], ['severity', 1, 1, 1, '\u0000'], [1e300, 'x', 'y']]

  test.each(named(asking))('%s', async (_name, route) => {
    const path = pathOf(route, ours)
    const queryOf = async (query: string, name: string) => {
      const answer = await send(route, `${path}?${query}`)
      checkAnswer(route, answer)
      if (answer.status === 400) expect(answer.body.error).toMatch(new RegExp(`^(?:query\\.)?${name}: `))
    }
    for (const { name, in: place } of route.operation.parameters ?? []) {
      if (place !== 'query') continue
      for (const value of VALUES) await queryOf(`${name}=${value}`, name === 'to' ? '(?:from|to)' : name)
      await queryOf(`${name}=1&${name}=x`, name)
      await queryOf(`${name}[a]=1`, `(?:${name}|surprise).*`)
      if (name === 'cursor') for (const place of more) await queryOf(`cursor=${cursor(place)}`, 'cursor')
    }
    const unknown = await send(route, `${path}?surprise=1`)
    expect(unknown).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^query\.surprise: /) } })
  })
})

/** Anything at once: ids that are there and not, queries, headers, bodies that fit their schema, and any JSON. */
function anyCall(route: Route): fc.Arbitrary<[path: string, call: Call]> {
  const names = (route.operation.parameters ?? []).filter((one) => one.in === 'query')
  const query = fc.record(
    Object.fromEntries(names.map(({ name, schema }) => [name, fc.oneof(valid(schema), fc.string()).map(String)])),
    { requiredKeys: [] },
  )
  const path = fc.oneof(
    { weight: 3, arbitrary: fc.constant(pathOf(route, prey)) },
    fc
      .string({ maxLength: 30 })
      .map((text) => pathOf(route, prey, { id: `${encodeURIComponent(text.toWellFormed())}_` })),
  )
  const headers = fc.record(
    {
      'x-org-id': fc.constantFrom(world.owner.orgId, 'org_x', ''),
      'content-type': fc.constantFrom(
        'application/json',
        'application/json; charset=latin1',
        'text/plain',
        'multipart/form-data',
      ),
      'accept-encoding': fc.constantFrom('gzip', 'x'),
    },
    { requiredKeys: [] },
  )
  const bodies = [fc.constant(undefined), fc.json(), fc.string()]
  const fitting = route.body ? [{ weight: 8, arbitrary: fc.oneof(valid(route.body), nearlyTaken(route.body)) }] : []
  const body = fc.oneof(...fitting, ...bodies.map((arbitrary) => ({ weight: 1, arbitrary })))
  return fc
    .tuple(path, query, headers, body)
    .map(([where, asked, headers, body]) => [
      `${where}?${new URLSearchParams(asked as Record<string, string>)}`,
      { headers, ...(route.method === 'GET' || body === undefined ? {} : { body }) },
    ])
}

describe('anything', () => {
  test.each(named(routes))('%s', async (_name, route) => {
    await fc.assert(
      fc.asyncProperty(anyCall(route), async ([path, call]) => {
        const answer = await send(route, path, call)
        if (call.headers?.['x-org-id'] === 'org_x' && answer.status === 403) return checkError(answer.body)
        checkAnswer(route, answer)
      }),
      { numRuns: 60 },
    )
  })

  test('what was taken in does not stop the work that goes on by itself', async () => {
    const { body: input } = routes.find(({ method, path }) => method === 'POST' && path === '/v1/alerts') ?? {}
    const alerts = fc.sample(nearlyTaken(input ?? {}), 200)
    const { body: made } = await world.call('POST', '/v1/alerts/bulk', { body: { alerts } })
    expect(made.created).toBeGreaterThan(30)
    const { body } = await world.call('POST', '/v1/domains', { body: { name: 'Last' } })
    const params = {
      '': '1',
      'a\u0000b': '\u0000',
      '\ud800': '\udfff',
      "'": '"',
      $vendor: 'x',
      __proto__x: '+1 506 234 5678',
    }
    for (let hours = 0; hours < 3; hours++) {
      const events = Object.entries(params).map(([key, value]) => ({ vendor: value, event: key, params }))
      expect((await world.collect(body.token, { events })).status).toBe(202)
      world.clock.advance(HOUR_MS)
      await world.run('flush', 'compact', 'evaluate', 'deliver', 'retain', 'refresh domains')
    }
  }, 30_000)
})
