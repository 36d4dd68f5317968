import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { projectRoutes } from './project-routes.ts'
import { createProject, deleteProject, listProjects, updateProject } from './project-store.ts'
import { domainRoutes } from './routes.ts'
import { createDomain, deleteDomain } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const domainParts = {
    db,
    clock,
    collectUrl: 'https://collect.example',
    publicUrl: 'https://tags.example',
    isEndpointLocked: false,
    openIssues: () => ({}),
    lastOrders: () => ({}),
    changed() {},
  }
  const call = client({ db, clock }, ...projectRoutes({ db, clock }), ...domainRoutes(domainParts))
  const domain = (name: string, orgId = people.orgId) => createDomain(db, clock, orgId, { name })
  const create = async (body: unknown, as = people.ada.key) => (await call('POST', '/v1/projects', { as, body })).body
  const list = async (as = people.bob.key) => (await call('GET', '/v1/projects', { as })).body.projects
  return { db, clock, cast: people, call, domain, create, list }
}

describe('project permissions', () => {
  type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
  const readers = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
  const admins = { viewer: 403, readOnly: 403, member: 403, admin: 200, owner: 200, otherOrg: 404 }
  const cases: [string, string, unknown, Expected][] = [
    ['GET', '/v1/projects', undefined, readers],
    ['POST', '/v1/projects', { name: 'New' }, { ...admins, admin: 201, owner: 201, otherOrg: 201 }],
    ['POST', '/v1/projects', {}, { ...admins, admin: 400, owner: 400, otherOrg: 400 }],
    ['PATCH', '/v1/projects/{id}', { name: 'New' }, admins],
    ['PATCH', '/v1/projects/{id}', { domainIds: [] }, admins],
    ['DELETE', '/v1/projects/{id}', undefined, admins],
  ]
  test.each(
    cases.flatMap(([method, path, body, expected]) =>
      CALLERS.map((caller) => {
        const status = caller in expected ? expected[caller as keyof Expected] : 401
        return [method, path, body, caller, status] as const
      }),
    ),
  )('%s %s %j as %s returns %i', async (method, path, body, caller, status) => {
    const { db, call, cast, create, domain } = setUp()
    const { id } = await create({ name: 'Shops', domainIds: [domain('Shop')] })
    const dump = () => JSON.stringify(['project', 'domain'].map((table) => db.prepare(`SELECT * FROM ${table}`).all()))
    const before = dump()
    const answer = await call(method, path.replace('{id}', id), { as: credentialsOf(cast)[caller], body })
    expect(answer.status).toBe(status)
    if (status >= 400) expect(dump()).toBe(before)
  })
})

describe('a project', () => {
  test('can be created, read, changed and deleted; its domains show it and are not deleted with it', async () => {
    const { clock, call, cast, domain, create, list } = setUp()
    const [one, two] = [domain('One'), domain('Two')]
    const project = await create({ name: ' Shops ', domainIds: [one, one] })
    expect(project).toEqual({
      id: expect.stringMatching(/^prj_/),
      name: 'Shops',
      domainIds: [one],
      createdAt: clock.now(),
    })
    expect(await list()).toEqual([project])
    expect(await list(cast.mallory.key)).toEqual([])
    const inProject = async (id: string) =>
      (await call('GET', `/v1/domains/${id}`, { as: cast.bob.key })).body.projectId
    expect(await Promise.all([one, two].map(inProject))).toEqual([project.id, null])

    const at = `/v1/projects/${project.id}`
    const patch = async (body: unknown) => (await call('PATCH', at, { as: cast.ada.key, body })).body
    expect(await patch({ name: 'shops' })).toEqual({ ...project, name: 'shops' })
    expect(await patch({ domainIds: [two] })).toEqual({ ...project, name: 'shops', domainIds: [two] })
    expect(await patch({})).toEqual({ ...project, name: 'shops', domainIds: [two] })
    await call('PUT', `/v1/domains/${two}`, { as: cast.ada.key, body: { name: 'Two again' } })
    const { domains } = (await call('GET', '/v1/domains', { as: cast.bob.key })).body
    expect(domains.find(({ id }: { id: string }) => id === two).projectId).toBe(project.id)

    expect((await call('DELETE', at, { as: cast.ada.key })).body).toEqual({ ok: true })
    expect((await call('DELETE', at, { as: cast.ada.key })).status).toBe(404)
    expect(await list()).toEqual([])
    expect(await Promise.all([one, two].map(inProject))).toEqual([null, null])
  })

  test('has a unique name in its organization, ignoring case', async () => {
    const { call, cast, create } = setUp()
    const { id } = await create({ name: 'Shops' })
    const again = await call('POST', '/v1/projects', { as: cast.ada.key, body: { name: ' SHOPS ' } })
    expect([again.status, again.body.error]).toEqual([409, 'name: another project in this organization has this name'])
    const other = await create({ name: 'Apps' })
    const renamed = await call('PATCH', `/v1/projects/${other.id}`, { as: cast.ada.key, body: { name: 'shops' } })
    expect(renamed.status).toBe(409)
    expect((await create({ name: 'Shops' }, cast.mallory.key)).id).not.toBe(id)
  })

  test('accepts only domains of its organization, and is unchanged after a rejected request', async () => {
    const { db, call, cast, domain, create } = setUp()
    const [mine, theirs] = [domain('Mine'), domain('Theirs', cast.mallory.orgId)]
    const { id } = await create({ name: 'Shops', domainIds: [mine] })
    const dump = () => JSON.stringify(['project', 'domain'].map((table) => db.prepare(`SELECT * FROM ${table}`).all()))
    const before = dump()
    for (const domainId of [theirs, 'dom_none']) {
      const body = { name: 'Other', domainIds: [mine, mine, domainId] }
      const made = await call('POST', '/v1/projects', { as: cast.ada.key, body })
      const changed = await call('PATCH', `/v1/projects/${id}`, { as: cast.ada.key, body })
      for (const { status, body } of [made, changed]) {
        expect([status, body.error]).toEqual([400, 'domainIds[2]: no such domain'])
      }
    }
    expect(dump()).toBe(before)
  })

  test.each<[unknown, number]>([
    [{ name: 'n'.repeat(100) }, 201],
    [{ name: 'n'.repeat(101) }, 400],
    [{ name: '' }, 400],
    [{ name: ' ' }, 400],
    [{ name: 'Shops', domainIds: Array(1001).fill('dom_x') }, 400],
    [{ name: 'Shops', domainIds: [7] }, 400],
    [{ name: 'Shops', domainIds: null }, 400],
    [{ name: 'Shops', orgId: 'org_x' }, 400],
  ])('with the body %j returns %i', async (body, status) => {
    const { call, cast } = setUp()
    expect((await call('POST', '/v1/projects', { as: cast.ada.key, body })).status).toBe(status)
  })

  test('can have 1,000 domains', async () => {
    const { db, clock, cast, create } = setUp()
    const ids = Array.from({ length: 1000 }, (_, i) => createDomain(db, clock, cast.orgId, { name: `Domain ${i}` }))
    expect((await create({ name: 'Shops', domainIds: ids })).domainIds).toHaveLength(1000)
  })

  test('is listed exactly once across pages, oldest first', async () => {
    const { clock, call, cast, create } = setUp()
    const names = ['One', 'Two', 'Three']
    for (const name of names) {
      clock.advance(1)
      await create({ name })
    }
    const first = (await call('GET', '/v1/projects?limit=2', { as: cast.vera.key })).body
    const rest = (await call('GET', `/v1/projects?limit=2&cursor=${first.nextCursor}`, { as: cast.vera.key })).body
    expect(first.projects).toHaveLength(2)
    expect([...first.projects, ...rest.projects].map(({ name }) => name)).toEqual(names)
    expect(rest.nextCursor).toBeNull()
  })
})

test('after any sequence of changes, a domain is in the project that it was last added to', () => {
  const project = fc.nat({ max: 3 })
  const domains = fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 5 })
  const act = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), project, domains }),
    fc.record({ kind: fc.constant('delete' as const), project }),
    fc.record({ kind: fc.constant('lose' as const), domain: fc.nat({ max: 4 }) }),
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      const { db, clock, cast, domain } = setUp()
      const { orgId } = cast
      const ids = Array.from({ length: 5 }, (_, i) => domain(`Domain ${i}`))
      const projects = new Map<number, string>()
      /**
       * Maps each domain to the index of its project; null for domains without a project. Deleted domains are omitted.
       */
      const places = new Map<string, number | null>(ids.map((id) => [id, null]))
      const leave = (project: number) => {
        for (const [id, place] of places) if (place === project) places.set(id, null)
      }
      for (const step of acts) {
        if (step.kind === 'lose') {
          const id = ids[step.domain] ?? ''
          if (places.delete(id)) deleteDomain(db, { orgId, id })
          continue
        }
        const id = projects.get(step.project)
        if (step.kind === 'delete') {
          if (id === undefined) continue
          deleteProject(db, { orgId, id })
          projects.delete(step.project)
          leave(step.project)
          continue
        }
        const domainIds = step.domains.flatMap((n) => ids[n] ?? [])
        const lost = domainIds.some((id) => !places.has(id))
        const name = `Project ${step.project}`
        const set = () =>
          id === undefined
            ? createProject(db, clock, orgId, { name, domainIds })
            : updateProject(db, { orgId, id }, { domainIds })
        if (lost) expect(set).toThrow(AppError)
        else {
          projects.set(step.project, set().id)
          leave(step.project)
          for (const id of domainIds) places.set(id, step.project)
        }
      }
      const seen = listProjects(db, orgId, { limit: 200 }).items
      const expected = [...projects].map(([project, id]) => ({
        id,
        domainIds: ids.filter((domain) => places.get(domain) === project).toSorted(),
      }))
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
      expect(seen.map(({ id, domainIds }) => ({ id, domainIds })).toSorted(byId)).toEqual(expected.toSorted(byId))
    }),
    { numRuns: 150 },
  )
})
