import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HOUR_MS } from '../../src/core/clock.ts'
import { nounsOf, pathOf, type Route } from './openapi-routes.ts'
import { type DescribedApi, describedApi, type TestTenant } from './two-tenants.ts'
import { make } from './valid-calls.ts'

/*
 * Every JavaScript object inherits names such as `constructor`, so looking up such a name in an object that is used as
 * a table returns a function. This test uses these names wherever a caller can choose a name, and then calls every
 * reading route.
 */

const NAMES = ['constructor', '__proto__', 'toString']
/** Two letters and a digit, which match the custom pattern. */
const STAFF = 'ab7'

let api: DescribedApi
let tenant: TestTenant
let domainId: string

const batch = (n: number) => ({
  batchId: `batch ${n + 1000}`,
  sessionId: `session ${n}`,
  version: 1 + Math.floor(n / 100),
  sampleRate: 0.05,
  page: { url: 'https://shop.example/constructor', title: 'constructor' },
  events: NAMES.flatMap((vendor) =>
    NAMES.map((event) => ({
      vendor,
      event,
      account: event,
      params: {
        ...Object.fromEntries(NAMES.map((key) => [key, n > 100 && key === event ? 1 : `${key} ${n}`])),
        staff: STAFF,
      },
    })),
  ),
  hits: NAMES.map((name) => ({
    url: `https://${name.toLowerCase().replaceAll('_', '')}.example/${name}?${name}=${name}`,
  })),
  tags: NAMES.map((name) => ({ container: name, tagId: name, name, event: name })),
})

beforeAll(async () => {
  api = await describedApi()
  tenant = api.tenant()
  const { world } = api
  const maker = { world, tenant }
  const as = tenant.people.owner.key
  const piiPatterns = [{ name: 'constructor', pattern: '^ab[0-9]$' }]
  expect(await world.call('PATCH', '/v1/org', { as, body: { piiPatterns } })).toMatchObject({ status: 200 })
  const domain = await make(maker, '/v1/domains', { name: 'constructor' })
  domainId = domain.id
  for (let hour = 0; hour < 8 * 24; hour++) {
    world.clock.advance(HOUR_MS)
    expect((await world.collect(domain.token, batch(hour))).body).toMatchObject({ rejected: 0 })
  }
  for (const name of NAMES) {
    const members = NAMES.map((event) => ({ vendor: name, event }))
    expect(
      await world.call('POST', '/v1/insights/labels/assign', { as, body: { label: name, members } }),
    ).toMatchObject({
      status: 200,
    })
    const items = [{ parameter: name, op: 'not_blank' }]
    await make(maker, '/v1/alerts', {
      name,
      domainId,
      alertType: 'data_validation',
      period: '1h',
      vendors: [name],
      filters: [{ parameter: '$label', op: 'equals', values: [name] }],
      conditions: { logic: 'any', items },
      channels: [{ type: 'email', target: 'ann@example.com' }],
    })
  }
  await world.run('flush', 'compact', 'scan for personal data', 'automatic alerts', 'evaluate series', 'check consent')
  await world.run('detect releases', 'evaluate changes')
  const { findings } = (await world.call('GET', '/v1/compliance/pii', { as })).body
  expect(findings.length).toBeGreaterThan(0)
  for (const { vendor, key, kind } of findings)
    await world.call('POST', '/v1/compliance/pii/action', { as, body: { action: 'file', vendor, key, kind } })
  world.clock.advance(HOUR_MS)
  await world.collect(domain.token, batch(1000))
  await world.run('flush', 'evaluate', 'evaluate series', 'deliver')
})
afterAll(() => api?.world[Symbol.asyncDispose]())

/**
 * Query parameters that contain names chosen by a caller, with the function that converts a name to a value of the
 * parameter.
 */
const GIVEN: Readonly<Record<string, (name: string) => string>> = {
  vendor: String,
  event: String,
  key: String,
  label: String,
  q: String,
  account: String,
  param: (name) => `${name}=${name}`,
}

/** Returns the paths of a route with each name in every query parameter that accepts names. */
function pathsOf(route: Route): string[] {
  const path = pathOf(route, Object.fromEntries(nounsOf(route).map((noun) => [noun, domainId])))
  const known = (fields: Record<string, string>) =>
    Object.entries(fields).filter(([name]) => route.parameters.some((one) => one.in === 'query' && one.name === name))
  const pair = { aEnv: 'prod', bEnv: 'dev' }
  const base = known({
    domainId,
    containerPath: 'accounts/6/containers/71',
    hours: '168',
    q: 'shop',
    by: 'vendor',
    ...pair,
  })
  const given = NAMES.map((name) =>
    known(Object.fromEntries(Object.entries(GIVEN).map(([field, textOf]) => [field, textOf(name)]))),
  )
  const queries = [base, ...given.map((fields) => [...base.filter(([name]) => name !== 'q'), ...fields])]
  return [...new Set(queries.map((query) => `${path}?${new URLSearchParams(query)}`))]
}

const FUNCTION = /native code|\[object /

test('every response has the documented format and contains no function', async () => {
  const { world, routes } = api
  const asked = routes.filter(
    (route) =>
      route.method === 'GET' &&
      !route.isPublic &&
      // Refused on a server with several organizations.
      route.path !== '/v1/backups' &&
      route.path !== '/v1/collectors' &&
      nounsOf(route).every((noun) => noun === 'domains'),
  )
  for (const path of asked.flatMap(pathsOf)) {
    const { status, body } = await world.call('GET', path, { as: tenant.people.owner.key })
    // Status 409 is returned because Google Tag Manager is not connected.
    expect({ path, body, ok: [200, 409].includes(status) }).toMatchObject({ ok: true })
    expect(JSON.stringify(body)).not.toMatch(FUNCTION)
  }
})

test('an alert evaluates the values of parameters with these names', async () => {
  const { world } = api
  const as = tenant.people.owner.key
  const { issues } = (await world.call('GET', '/v1/issues?alertType=data_validation&limit=200', { as })).body
  const titles: string[] = issues.map(({ title }: { title: string }) => title)
  for (const name of NAMES) expect(titles.filter((title) => title.includes(name)).length).toBeGreaterThan(0)
  for (const { id } of issues) {
    const { status, body } = await world.call('GET', `/v1/issues/${id}/evidence`, { as })
    expect({ status, text: JSON.stringify(body) }).toMatchObject({
      status: 200,
      text: expect.not.stringMatching(FUNCTION),
    })
  }
})
