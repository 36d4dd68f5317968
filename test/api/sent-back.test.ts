import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from './json-schema.ts'
import { nounsOf, pathOf, type Route } from './openapi-routes.ts'
import { type DescribedApi, describedApi, type TestTenant } from './two-tenants.ts'
import { oneOf } from './valid-calls.ts'

/** Changes with the traffic or with time, so another value is ignored. */
const VOLATILE = new Set([
  ...['events24h', 'lastEventAt', 'vendorCount', 'prodVersion', 'lateShare', 'nextOccurrences', 'nextDays'],
  ...['inForceUntil', 'available', 'eligible', 'pageViewsPerHour'],
])

let api: DescribedApi
let home: TestTenant
beforeAll(async () => {
  api = await describedApi()
  home = api.tenant()
})
afterAll(() => api.world[Symbol.asyncDispose]())

const as = () => home.people.owner.key

/** Routes whose PUT performs an action with a secret, and doesn't replace what GET returns. */
const ACTIONS = ['/v1/auth/totp']

/** Returns the routes with a GET, other than of a list, and a PUT or PATCH of the same path. */
function pairs(): { get: Route; put: Route }[] {
  const gets = new Map(api.routes.filter(({ method }) => method === 'GET').map((route) => [route.path, route]))
  return api.routes
    .filter(({ method, path }) => (method === 'PUT' || method === 'PATCH') && !ACTIONS.includes(path))
    .flatMap((put) => {
      const get = gets.get(put.path)
      const isList = get?.parameters.some(({ name }) => name === 'cursor')
      return get && !isList ? [{ get, put }] : []
    })
}

const fieldsOf = (schema: JsonSchema | null | undefined): string[] =>
  Object.keys((schema as { properties?: object } | null)?.properties ?? {})

/** Returns another value of the same type. */
function changed(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return `${value}x`
  return value === null ? 'x' : null
}

test('a response of GET can be sent back by PUT and PATCH as it came', async () => {
  const tried: string[] = []
  for (const { get, put } of pairs()) {
    const ids = await oneOf(nounsOf(put), { world: api.world, tenant: home })
    const path = pathOf(put, ids)
    const { body: before } = await api.world.call('GET', path, { as: as() })
    const answer = await api.world.call(put.method, path, { as: as(), body: before })
    expect({ name: put.name, status: answer.status, error: answer.body.error }).toEqual({
      name: put.name,
      status: 200,
      error: undefined,
    })
    const { body: after } = await api.world.call('GET', path, { as: as() })
    expect({ name: put.name, ...after, updatedAt: 0 }).toEqual({ name: put.name, ...before, updatedAt: 0 })

    const readOnly = fieldsOf(get.responses['200']?.content?.['application/json']?.schema).filter(
      (name) => !fieldsOf(put.body).includes(name),
    )
    for (const name of readOnly) {
      if (VOLATILE.has(name) || isDeepStrictEqual(changed(after[name]), after[name])) continue
      const rejected = await api.world.call(put.method, path, {
        as: as(),
        body: { ...after, [name]: changed(after[name]) },
      })
      expect([put.name, rejected.status, rejected.body.error]).toEqual([
        put.name,
        400,
        `${name}: is read-only and cannot be changed`,
      ])
    }
    const unknown = await api.world.call(put.method, path, { as: as(), body: { ...after, surprise: 1 } })
    expect([put.name, unknown.status, unknown.body.error]).toEqual([put.name, 400, 'surprise: there is no such field'])
    tried.push(put.name)
  }
  expect(tried).toContain('PUT /v1/alerts/{id}')
  expect(tried.length).toBeGreaterThan(10)
})

test('the fields of items in a list are checked by their id', async () => {
  const path = '/v1/orders/capture'
  const call = (method: string, body?: unknown) => api.world.call(method, path, { as: as(), body })
  const { domains: domainId } = await oneOf(['domains'], { world: api.world, tenant: home })
  const vendors = ['Google Analytics 4', 'Meta Pixel']
  const { body } = await call('PUT', { rules: vendors.map((vendor) => ({ domainId, vendor })) })
  const [first] = body.rules
  const mark = { id: first.id, key: 'first', file: 'a.yaml' }
  await api.world.call('POST', '/v1/org/managed', { as: as(), body: { items: [mark] } })
  const { body: marked } = await call('GET')
  expect(marked.rules[0].managedBy).toEqual({ key: 'first', file: 'a.yaml' })
  expect((await call('PUT', { rules: marked.rules.toReversed() })).status).toBe(200)
  const rules = marked.rules.map((rule: object) => ({ ...rule, managedBy: { key: 'other', file: 'a.yaml' } }))
  expect((await call('PUT', { rules })).body.error).toBe('rules[0].managedBy: is read-only and cannot be changed')
})
