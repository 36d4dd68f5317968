import { afterAll, beforeAll, expect, test } from 'bun:test'
import { EVENTS_PATH } from '../../src/ingest/collector.ts'
import { type NetworkServer, startNetworkServer } from './network-server.ts'

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

let server: NetworkServer
beforeAll(async () => {
  server = await startNetworkServer()
})
afterAll(() => server[Symbol.asyncDispose]())

async function idOf(path: string, init: RequestInit = {}, { url } = server) {
  const response = await fetch(`${url}${path}`, init)
  await response.text()
  return { status: response.status, id: response.headers.get('x-request-id') ?? '' }
}

test.each([
  ['/healthz', 200],
  ['/', 200],
  ['/docs', 200],
  ['/v1/domains', 401],
  ['/v1/nothing', 404],
  ['/test/throws', 500],
  [EVENTS_PATH, 404],
  ['/t/pt_unknown.js', 404],
  ['/mcp', 405],
] as const)('each response to %s has its own id', async (path, status) => {
  const [one, two] = [await idOf(path), await idOf(path)]
  expect([one.status, two.status]).toEqual([status, status])
  for (const { id } of [one, two]) expect(id).toMatch(UUID)
  expect(one.id).not.toBe(two.id)
})

test('the id that a proxy sends is used if it is valid', async () => {
  const sent = async (id: string) => (await idOf('/healthz', { headers: { 'x-request-id': id } })).id
  for (const id of ['7f3c9a', '01HZX-2.b:c', 'Root=1-67891233-abcdef', 'x'.repeat(128), 'YWJj+/==']) {
    expect(await sent(id)).toBe(id)
  }
  for (const id of ['', 'x'.repeat(129), 'a b', '<script>', '{"a":1}', 'a,b', 'é']) expect(await sent(id)).toMatch(UUID)
})

test('the log of a bug has the id of its response', async () => {
  server.loggedIds.splice(0)
  const { id } = await idOf('/test/throws')
  expect(server.loggedIds).toEqual([id])
})

test('the log of a slow request has the id of its response, and no query', async () => {
  await using slow = await startNetworkServer({ slowMs: 0 })
  const { id } = await idOf('/?secret=1', {}, slow)
  expect(slow.loggedIds).toEqual([id])
  expect(slow.warnings.at(-1)).toMatch(/^GET \/ took \d+\.\d s \(status 200\)$/)
})

test('a rejected batch has an id that scripts of other sites can read', async () => {
  const init = { method: 'POST', headers: { authorization: 'Bearer pt_x', 'x-request-id': 'batch-7' }, body: '{}' }
  const response = await fetch(`${server.url}${EVENTS_PATH}`, init)
  expect(response.status).toBe(401)
  expect(response.headers.get('x-request-id')).toBe('batch-7')
  expect(response.headers.get('access-control-expose-headers')).toContain('x-request-id')
})
