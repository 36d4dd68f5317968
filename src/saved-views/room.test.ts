import { expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { openSession } from '../org/session.ts'
import { savedViewRoutes } from './room.ts'
import { MAX_VIEWS } from './saved-view.ts'
import { createView } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const call = client({ db, clock }, ...savedViewRoutes({ db, clock }))
  const as = ({ key }: { key: string }) => key
  const view = { page: 'issues', name: 'Critical', search: 'severity=critical' }
  const save = async (person: { key: string }, body: object = {}) =>
    (await call('POST', '/v1/views', { as: as(person), body: { ...view, ...body } })).body
  const names = async (person: { key: string }, query = '') =>
    (await call('GET', `/v1/views${query}`, { as: as(person) })).body.views.map(({ name }: { name: string }) => name)
  return { db, clock, people, call, view, save, names }
}

test('a saved view is listed for its user, by page, and for nobody else', async () => {
  const { clock, people, view, save, names } = setUp()
  expect(await save(people.bob)).toMatchObject({ ...view, isShared: false, isOwn: true })
  clock.advance(1)
  await save(people.bob, { page: 'alerts', name: 'Muted' })
  expect(await names(people.bob)).toEqual(['Critical', 'Muted'])
  expect(await names(people.bob, '?page=alerts')).toEqual(['Muted'])
  expect(await names(people.ada)).toEqual([])
  expect(await names(people.mallory)).toEqual([])
})

test('a shared view is listed for the whole organization, and not for others', async () => {
  const { people, call, save, names } = setUp()
  const { id } = await save(people.bob, { isShared: true })
  expect(await names(people.vera)).toEqual(['Critical'])
  expect(await names(people.mallory)).toEqual([])
  const listed = (await call('GET', '/v1/views', { as: people.vera.key })).body.views
  expect(listed).toMatchObject([{ id, isShared: true, isOwn: false }])
})

test('viewers can neither share views nor change the shared views of others', async () => {
  const { db, clock, people, call, view, save } = setUp()
  // API keys of viewers are read-only.
  const vera = { key: openSession(db, clock, people.vera.userId, 'password').token }
  const refused = { status: 403, body: { error: 'this requires the role member; yours is viewer' } }
  const shared = { ...view, isShared: true }
  expect(await call('POST', '/v1/views', { as: vera.key, body: shared })).toMatchObject(refused)
  const own = await save(vera)
  const share = { as: vera.key, body: { isShared: true } }
  expect(await call('PATCH', `/v1/views/${own.id}`, share)).toMatchObject(refused)
  const { id } = await save(people.bob, { isShared: true })
  expect(await call('PATCH', `/v1/views/${id}`, { as: vera.key, body: { name: 'x' } })).toMatchObject(refused)
  expect(await call('DELETE', `/v1/views/${id}`, { as: vera.key })).toMatchObject(refused)
})

test('a view is renamed, shared and deleted; members can do so with shared views of others', async () => {
  const { people, call, save, names } = setUp()
  const { id } = await save(people.bob)
  const patch = (as: string, body: object) => call('PATCH', `/v1/views/${id}`, { as, body })
  expect((await patch(people.ada.key, { name: 'Mine' })).status).toBe(404)
  expect((await patch(people.bob.key, { name: 'Worst', isShared: true })).body).toMatchObject({
    name: 'Worst',
    search: 'severity=critical',
    isShared: true,
  })
  expect((await patch(people.ada.key, { search: '' })).body).toMatchObject({ name: 'Worst', search: '', isOwn: false })
  expect((await patch(people.ada.key, { isShared: false })).body).toMatchObject({ isShared: false })
  expect(await names(people.ada)).toEqual([])
  expect((await call('DELETE', `/v1/views/${id}`, { as: people.mallory.key })).status).toBe(404)
  expect((await call('DELETE', `/v1/views/${id}`, { as: people.bob.key })).status).toBe(200)
  expect(await names(people.bob)).toEqual([])
})

test.each([
  [{ name: '' }, 'name'],
  [{ name: 'a'.repeat(101) }, 'name'],
  [{ page: 'usage' }, 'page'],
  [{ search: 'a'.repeat(2001) }, 'search'],
])('a body with %j is refused with the name of the field', async (part, field) => {
  const { people, call, view } = setUp()
  const { status, body } = await call('POST', '/v1/views', { as: people.bob.key, body: { ...view, ...part } })
  expect({ status, starts: body.error.startsWith(`${field}: `) }).toEqual({ status: 400, starts: true })
})

test('a user can save a limited number of views', async () => {
  const { db, clock, people, call, view } = setUp()
  const { orgId, userId, key } = people.bob
  const input = { ...view, page: 'issues' } as const
  for (let n = 0; n < MAX_VIEWS; n++) createView(db, { orgId, userId }, input, clock.now())
  expect((await call('POST', '/v1/views', { as: key, body: view })).status).toBe(409)
  expect((await call('POST', '/v1/views', { as: people.ada.key, body: view })).status).toBe(201)
})
