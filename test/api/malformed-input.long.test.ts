import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS, SECOND_MS } from '../../src/core/clock.ts'
import type { Call } from '../fixtures.ts'
import { broken, valid } from './json-schema.ts'
import { oddBodies, oddQueries, oddTexts, twice } from './malformed-input.ts'
import { almostValid, checkAnswer, checkError, named, pathOf, type Route } from './openapi-routes.ts'
import { describedApi, type Person, type TestTenant } from './two-tenants.ts'
import { acceptedCall, NOUNS, oneOf } from './valid-calls.ts'

/*
 * Sends malformed input to every route of the OpenAPI document. New routes are covered automatically, unless their path
 * contains a new kind of id.
 */

const { world, routes, tenant } = await describedApi()
afterAll(() => world[Symbol.asyncDispose]())

// Hundreds of bodies contain a valid password, so passwords are hashed with the cheapest parameters, as in
// `test/api/two-tenants.ts`.
const { hash } = Bun.password
const cheap = spyOn(Bun.password, 'hash').mockImplementation((password) =>
  hash(password, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 }),
)
afterAll(() => cheap.mockRestore())

// Webhooks received from other products have other formats and require a signature. Their tests are in the folders of
// those products.
const ours = routes.filter(({ id }) => !id.startsWith('receiveFrom'))
const withBody = ours.filter(({ body }) => body !== null)
const withInput = ours.filter(({ body, parameters }) => body !== null || parameters.length > 0)
/** Backups and collectors are refused with 403, because the server has several organizations. */
const withId = routes.filter(({ path }) => path.includes('{id}') && !/^\/v1\/(?:backups|collectors)\//.test(path))

/** A caller that is used for one test, with the path of one of the caller's resources and a valid body. */
interface Prey {
  tenant: TestTenant
  owner: Person
  path: string
  body: Record<string, unknown> | undefined
  send(path?: string, call?: Call): ReturnType<typeof world.call>
}

/** Number of names used so far. Names are numbered, because duplicates are rejected. */
let names = 0

async function preyOf(route: Route): Promise<Prey> {
  const home = tenant()
  const { owner } = home.people
  const { ids, body } = await acceptedCall(route, { world, tenant: home }, tenant())
  const renamed = typeof body?.name === 'string' ? { name: `Name ${++names}` } : {}
  const as = route.isPublic ? null : route.id === 'changePassword' ? owner.session : owner.key
  const path = pathOf(route, ids)
  return {
    tenant: home,
    owner,
    path,
    body: body && { ...body, ...renamed },
    send(where = path, call = {}) {
      // Waits until the account's rate limit allows another attempt.
      if (isSlow(route)) world.clock.advance(6 * SECOND_MS)
      return world.call(route.method, where, { as, ...call })
    },
  }
}

/** True for routes whose calls count as sign-in attempts. Most valid calls to these routes compute a password hash. */
const isSlow = ({ id }: Route) => TRIES.includes(id)
const TRIES = ['signIn', 'changePassword', 'acceptInvitation', 'forgotPassword', 'resetPassword']

describe('requests without a credential', () => {
  let ids: Record<string, string>
  beforeAll(async () => {
    ids = await oneOf(NOUNS, { world, tenant: tenant() })
  })

  test.each(named(routes.filter(({ isPublic }) => !isPublic)))(
    'return 401 for any body sent to %s',
    async (_name, route) => {
      for (const as of [null, 'ak_nobody-made-this-key', 'st_x', '', 'a b', 'é'.repeat(3000)]) {
        for (const body of route.body ? [route.example, '{', {}] : [undefined]) {
          const answer = await world.call(route.method, pathOf(route, ids), { as, body })
          expect(answer.status).toBe(401)
          checkAnswer(route, answer)
        }
      }
    },
  )
})

describe('a malformed body', () => {
  test.each(named(withBody))('is rejected by %s', async (_name, route) => {
    const { body: taken = {}, send } = await preyOf(route)
    const sendBody = async (body: unknown, headers: Record<string, string> = {}) => {
      const answer = await send(undefined, { body, headers })
      checkAnswer(route, answer)
      return answer
    }
    for (const body of ['{', '{"name":', '[1,]', 'nul', '{"a":1}}', '['.repeat(10_000), '"\u0000"', "{'a':1}"]) {
      expect(await sendBody(body)).toMatchObject({ status: 400, body: { error: 'body: is not valid JSON' } })
    }
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x']
    for (const type of types) {
      const answer = await sendBody(taken, { 'content-type': type })
      expect(answer).toMatchObject({ status: 415, body: { error: 'content-type: must be application/json' } })
    }
    const frame = '{"surprise":""}'.length
    // Reading megabytes is slow. Routes without a specific limit share one limit, so a body of exactly the maximum size
    // is sent only once per limit.
    const isFirst = withBody.find(({ maxBodyBytes }) => maxBodyBytes === route.maxBodyBytes) === route
    for (const past of isFirst ? [0, 1] : [1]) {
      const answer = await sendBody(`{"surprise":"${'x'.repeat(route.maxBodyBytes + past - frame)}"}`)
      expect([past, answer.status]).toEqual([past, past ? 413 : 400])
    }
    for (const text of ['\u0000', 'a\u0000b', '\ud800', '\udfff\ud800', 'x\udc00']) {
      for (const [value, field] of [
        [{ name: text }, 'name'],
        [{ a: [0, { b: text }] }, 'a[1].b'],
        [{ [text]: 1 }, 'body'],
      ] as const) {
        const answer = await sendBody(value)
        expect(answer.status).toBe(400)
        expect(answer.body.error).toBe(`${field}: contains a NUL character or an unpaired surrogate`)
      }
    }
    for (const levels of [50, 1000, 50_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"name":', '}'],
      ] as const) {
        const deep = `{"name":${open.repeat(levels)}1${close.repeat(levels)}}`
        if (deep.length > route.maxBodyBytes) continue
        expect(await sendBody(deep)).toMatchObject({
          status: 400,
          body: { error: 'body: is nested more than 50 levels deep' },
        })
      }
    }
    for (const text of ['null', '[]', '"text"', '5', 'true', `{"name":${'['.repeat(40)}${']'.repeat(40)}}`]) {
      expect([text, (await sendBody(text)).status]).toEqual([text, 400])
    }
    if (route.bodyRequired) expect((await sendBody('')).status).toBe(400)
  })

  test.each(named(withBody))('with duplicate fields is read with their last value by %s', async (_name, route) => {
    const { body = {}, send } = await preyOf(route)
    const { taken, refused } = twice(route.body ?? {}, body)
    expect((await send(undefined, { body: refused })).status).toBe(400)
    // Both bodies can be parsed, so any remaining error does not concern their format.
    expect((await send(undefined, { body: taken })).status).not.toBe(400)
  })
})

describe('a body with one invalid field', () => {
  test.each(named(withBody))('is rejected by %s with status 400 and the name of the field', async (_name, route) => {
    const cases = route.body && broken(route.body)
    if (!cases) throw new Error('no invalid variant of this body exists')
    const { send } = await preyOf(route)
    await fc.assert(
      fc.asyncProperty(cases, async ({ value, field }) => {
        // Bodies that are not objects are covered by other tests.
        fc.pre(field !== '')
        const { status, body } = await send(undefined, { body: value })
        // Items of a batch are rejected individually.
        const isListed = status === 200 && body.failed > 0
        if (!isListed) expect(status).toBe(400)
        const error: string = isListed ? body.errors[0].error : body.error
        // If a value may have several formats, the message may name another field first.
        if (hasShapes(route, field)) expect(error).toMatch(/^[a-z]\w*(?:[.[].*)?: /is)
        else expect([': ', '.', '['].some((next) => error.startsWith(field + next)) ? field : error).toBe(field)
      }),
      { numRuns: 100 },
    )
  })
})

/** True when the field is inside a value for which several formats are allowed. */
function hasShapes({ body }: Route, field: string): boolean {
  const schemas = body?.properties?.alerts?.items?.properties ?? body?.properties ?? {}
  const name = field.replace(/^alerts\[0\]\.?/, '').split(/[.[]/)[0] ?? ''
  return JSON.stringify(schemas[name] ?? {}).includes('"anyOf"')
}

describe('IDs', () => {
  test.each(named(withId))('return 404 from %s if they are unknown', async (_name, route) => {
    const { body, path, send } = await preyOf(route)
    const [, id = ''] = /_([0-9a-z]{26})/.exec(path) ?? []
    for (const other of ['none', `${id}x`, id.toUpperCase(), '__proto__', 'null']) {
      const answer = await send(path.replace(/[a-z]+_[0-9a-z]{26}/, other), { body })
      expect([other, answer.status]).toEqual([other, 404])
      checkAnswer(route, answer)
    }
  })

  describe('of another organization', () => {
    const lists = routes.filter(({ method, path, isPublic }) => method === 'GET' && !path.includes('{') && !isPublic)
    let theirs: string[]
    let other: TestTenant
    beforeAll(async () => {
      const one = tenant()
      other = tenant()
      const ids = await oneOf(['domains', 'projects', 'alerts', 'integrations', 'deliveries'], { world, tenant: one })
      theirs = [one.orgId, ...Object.values(one.people).map(({ userId }) => userId), ...Object.values(ids)]
    })

    test.each(named(lists))('are not listed by %s', async (_name, route) => {
      const shown = JSON.stringify((await world.call('GET', route.path, { as: other.people.owner.key })).body)
      for (const id of theirs) expect(shown).not.toContain(id)
    })
  })

  const paths = [
    '/v1',
    '/v1/',
    '//',
    '/v1//alerts',
    '/V1/alerts',
    '/v1/alerts/',
    '/%',
    '/%00',
    '/v1/%61lerts',
    '/;',
    '/\\',
    '/v1/../v1/alerts',
    '/v1/alerts%3Flimit=1',
    `/${'a/'.repeat(5000)}`,
    '/?'.padEnd(20_000, '&a=%'),
    '/v1/alerts/x/y/z',
  ]
  test.each(paths.map((path) => [path.slice(0, 30), path]))(
    'a request for %s is rejected or handled by the normalized route',
    async (_name, path) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, body } = await world.call(method, path)
        expect([200, 400, 404]).toContain(status)
        if (status !== 200) checkError(body)
      }
    },
  )
})

/** Generates paths, queries and headers at random, with valid bodies and with arbitrary JSON. */
function anyCall(route: Route, prey: Prey): fc.Arbitrary<[path: string, call: Call]> {
  const asked = route.parameters.filter((one) => one.in === 'query')
  const query = fc.record(
    Object.fromEntries(asked.map(({ name, schema }) => [name, fc.oneof(valid(schema), fc.string()).map(String)])),
    { requiredKeys: [] },
  )
  const text = fc.string({ maxLength: 30 }).map((one) => `${encodeURIComponent(one.toWellFormed())}_`)
  const path = fc.oneof(
    { weight: 3, arbitrary: fc.constant(prey.path) },
    text.map((id) => prey.path.replace(/[a-z]+_[0-9a-z]{26}/, id)),
  )
  const types = ['application/json', 'application/json; charset=latin1', 'text/plain', 'multipart/form-data']
  const headers = fc.record(
    {
      'x-org-id': fc.constantFrom(prey.tenant.orgId, 'org_x', ''),
      'content-type': fc.constantFrom(...types),
      'accept-encoding': fc.constantFrom('gzip', 'x'),
    },
    { requiredKeys: [] },
  )
  const bodies = [fc.constant(undefined), fc.json(), fc.string()].map((arbitrary) => ({ weight: 1, arbitrary }))
  return fc
    .tuple(path, query, headers, fc.oneof(...fittingBodies(route, prey), ...bodies))
    .map(([where, asked, headers, body]) => [
      `${where}?${new URLSearchParams(asked as Record<string, string>)}`,
      { headers, ...(route.method === 'GET' || body === undefined ? {} : { body }) },
    ])
}

function fittingBodies(route: Route, { body }: Prey) {
  if (!route.body) return []
  const wrong = broken(route.body)?.map(({ value }) => value) ?? fc.constant({})
  const fitting = isSlow(route) ? wrong : fc.oneof(valid(route.body), almostValid(route.body, body ?? {}))
  return [{ weight: 8, arbitrary: fitting }]
}

/** Minimum number of calls to each route. */
const CALLS_MIN = 200

describe('200 random inputs', () => {
  test.each(named(withInput))('are accepted or rejected by %s as documented', async (_name, route) => {
    const prey = await preyOf(route)
    const required = route.parameters.filter((one) => one.in === 'query' && one.required)
    const base = required.map(({ name }) => `${name}=x`).join('&')
    const asked = route.parameters.filter((one) => one.in === 'query')
    let calls = 0
    const send = async (path: string, call: Call) => {
      const answer = await prey.send(path, call)
      calls++
      checkAnswer(route, answer)
      // No input may cause a server error.
      expect([route.name, path.slice(0, 300), answer.status < 500]).toEqual([route.name, path.slice(0, 300), true])
      return answer
    }
    for (const { name, in: place, schema } of route.parameters) {
      if (place !== 'path') continue
      const part = new RegExp(`(?<=/)${name === 'id' ? '[a-z]+_[0-9a-z]{26}' : 'shop\\.example'}`)
      for (const text of oddTexts(schema))
        await send(
          prey.path.replace(part, () => text),
          { body: prey.body },
        )
    }
    for (const query of asked.length > 0 ? oddQueries(asked, base) : []) await send(`${prey.path}?${query}`, {})
    for (const body of route.body ? oddBodies(route.body, prey.body) : []) await send(prey.path, { body })
    await fc.assert(
      fc.asyncProperty(anyCall(route, prey), async ([path, call]) => void (await send(path, call))),
      { numRuns: Math.max(60, CALLS_MIN - calls) },
    )
    expect(calls).toBeGreaterThanOrEqual(CALLS_MIN)
  })

  test('do not stop background jobs once accepted', async () => {
    const route = routes.find(({ id }) => id === 'createAlert')
    const { body = {}, owner } = await preyOf(route as Route)
    const volume = { ...body, alertType: 'volume_threshold', volume: { op: 'gte', count: 0 } }
    const { conditions: _, ...plain } = volume as Record<string, unknown>
    const alerts = [body, plain].flatMap((one) => fc.sample(almostValid(route?.body ?? {}, one), 100))
    const { body: made } = await world.call('POST', '/v1/alerts/bulk', { as: owner.key, body: { alerts } })
    expect(made.created).toBeGreaterThan(30)
    const last = await world.call('POST', '/v1/domains', { as: owner.key, body: { name: 'Last' } })
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
      expect((await world.collect(last.body.token, { events })).status).toBe(202)
      world.clock.advance(HOUR_MS)
      await world.run('flush', 'compact', 'evaluate', 'deliver', 'retain', 'refresh domains')
    }
  })
})
