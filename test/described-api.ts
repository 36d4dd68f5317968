import { expect } from 'bun:test'
import fc from 'fast-check'
import { MINUTE_MS } from '../src/core/clock.ts'
import { addMember, createKey, createOrg, createUser } from '../src/org/store.ts'
import { type TestApp, testApp } from './app.ts'
import type { Answer } from './fakes.ts'
import { fits, type JsonSchema, least, valid } from './json-schema.ts'

/** Need no credential. */
export const PUBLIC = ['/healthz', '/readyz', '/metrics']

/** Bodies that are taken, by the name of the schema: where the plainest one that fits it is not. */
const alert = {
  name: 'Rule',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
}
const volumeAlert = { ...alert, conditions: undefined, alertType: 'volume_threshold', volume: { op: 'gte', count: 0 } }
const INTEGRATION = { provider: 'webhook', config: { url: 'https://hooks.example.com/a' } }
const TAKEN: Record<string, [object, ...object[]]> = {
  AlertInput: [alert, volumeAlert],
  AlertBulkInput: [{ alerts: [alert, volumeAlert] }],
  IntegrationInput: [INTEGRATION],
}

/** An owner is refused with these and no others, whatever is sent. */
const REFUSALS = [400, 404, 409, 413, 415]

/** A route as the program describes it. */
export interface Route {
  method: string
  path: string
  operation: Operation
  /** Of what it takes; null when it takes nothing. */
  body: JsonSchema | null
}
interface Operation {
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses?: Record<string, { content?: Record<string, { schema: JsonSchema }> }>
}

/** The routes of a program in which there is something of everything. */
export interface DescribedApi {
  world: TestApp
  routes: readonly Route[]
  /** Ids of one of each thing, by noun: the owner's; a stranger's, who owns another organization. */
  ours: Record<string, string>
  theirs: Record<string, string>
  /** The owner's as well, but nothing more is asked of them: what is sent at random may change and delete them. */
  prey: Record<string, string>
  strangersKey: string
}

/** Starts it. One part of the events is in the warehouse, the other in the spool. Nothing is sent to anybody. */
export async function describedApi(): Promise<DescribedApi> {
  const nobody = { send: async () => ({ kind: 'status', status: 200, headers: {}, body: '' }) as const }
  const world = await testApp({}, { transport: nobody })
  const ours = await oneOfEach(world, world.owner.apiKey, 'Shop')
  const strangersKey = keyOfAStranger(world)
  const theirs = await oneOfEach(world, strangersKey, 'Theirs')
  world.clock.advance(MINUTE_MS)
  await world.run('flush')
  const prey = await oneOfEach(world, world.owner.apiKey, 'Prey')
  return { world, routes: await routesOf(world), ours, theirs, prey, strangersKey }
}

async function routesOf(world: TestApp): Promise<Route[]> {
  const { body } = await world.call('GET', '/openapi.json', { as: null })
  const paths = Object.entries(body.paths as Record<string, Record<string, Operation>>)
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => {
      const schema = operation.requestBody?.content['application/json']?.schema ?? null
      return { method: method.toUpperCase(), path, operation, body: schema }
    }),
  )
}

/** One of everything that can be asked for by its id, in the organization of the key: its ids, by noun. */
async function oneOfEach(world: TestApp, as: string, name: string): Promise<Record<string, string>> {
  const make = async (path: string, body: object) => {
    const answer = await world.call('POST', path, { as, body })
    expect(answer).toMatchObject({ status: 201 })
    return answer.body
  }
  const first = async (path: string, noun: string) => (await world.call('GET', path, { as })).body[noun][0].id
  const domain = await make('/v1/domains', { name })
  const alerts = (await make('/v1/alerts', alert)).id
  const integrations = (await make('/v1/integrations', INTEGRATION)).id
  const keys = (await make('/v1/keys', { name, expiresInDays: null })).id
  await world.collect(domain.token, {
    page: { url: 'https://shop.example/' },
    events: [{ vendor: 'Shop', event: 'buy', params: { to: 'x' } }],
  })
  world.clock.advance(1)
  await world.run('evaluate', 'deliver')
  const issues = await first(`/v1/issues?alertId=${alerts}`, 'issues')
  const deliveries = await first(`/v1/notifications/deliveries?issueId=${issues}`, 'deliveries')
  return { domains: domain.id, alerts, integrations, keys, issues, deliveries }
}

function keyOfAStranger({ app: { db, box }, clock }: TestApp): string {
  const { id: orgId } = createOrg(db, box, clock, { name: 'Mallory and Sons' })
  const { id: userId } = createUser(db, clock, { email: 'mallory@example.com' })
  addMember(db, clock, { orgId, userId, role: 'owner' })
  return createKey(db, clock, { userId, name: 'key', expiresInDays: null }).secret
}

/** The path of a route with an id of each thing, and other parts by name; each as it stands in a URL. */
export function pathOf({ path }: Route, ids: Record<string, string>, others: Record<string, string> = {}): string {
  return path.replaceAll(/([^/]+)\/\{(\w+)\}/g, (_, noun: string, name: string) => {
    const value = others[name] ?? (name === 'id' ? ids[noun] : { hostname: 'shop.example' }[name])
    if (value === undefined) throw new Error(`this test knows no {${name}} of ${noun}: make one in oneOfEach`)
    return `${noun}/${value}`
  })
}

/** Bodies that fit a schema and are taken. */
function takenBodies(schema: JsonSchema): readonly [object, ...object[]] {
  return TAKEN[schema.$id ?? ''] ?? [least(schema) as object]
}

/** A body that the route takes; undefined for a route that takes none. */
export function takenBody({ body }: Route): unknown {
  return body ? takenBodies(body)[0] : undefined
}

/** Fails unless the answer is one that the route may give. */
export function checkAnswer({ operation }: Route, { status, body }: Answer): void {
  if (status < 400) {
    const described = operation.responses?.[status]?.content?.['application/json']?.schema
    if (described) expect(fits(described, body)).toBe(true)
    return
  }
  expect(REFUSALS).toContain(status)
  checkError(body)
}

/** Fails unless it is the one shape of an error, in plain words. */
export function checkError(body: unknown): void {
  expect(body).toEqual({ error: expect.stringMatching(/\S/) })
  // Nothing of the machine's inside: no stack, no SQL, no path.
  expect((body as { error: string }).error).not.toMatch(/\n\s+at |SELECT |INSERT |UPDATE |SQLITE|\/src\/|node_modules/)
}

/** A body that is taken, with some of its fields as the schema allows them. */
export function nearlyTaken(body: JsonSchema): fc.Arbitrary<unknown> {
  const plain = fc.constantFrom(...takenBodies(body))
  const fields = Object.entries(body.properties ?? {}).map(([name, schema]) => {
    const items = schema.items?.$id && schema.items.$id in TAKEN ? schema.items : null
    const value = items ? fc.array(nearlyTaken(items), { minLength: 1, maxLength: 5 }) : valid(schema)
    return value.map((one) => ({ [name]: one }))
  })
  const changed = fc.array(fc.oneof(...fields), { minLength: 1, maxLength: 2 })
  return fc.tuple(plain, changed).map(([one, changes]) => Object.assign({}, one, ...changes))
}
