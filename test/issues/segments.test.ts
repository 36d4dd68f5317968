import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { createDomain } from '../../src/domains/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { type TestApp, testApp } from '../test-app.ts'

/* Tests who may ask which segments an issue or a change of volume affects, over HTTP. */

let world: TestApp
let issueId: string
let domainId: string
const keys: Record<string, string> = {}
const others: Record<'domainId' | 'projectId', string> = { domainId: '', projectId: '' }

beforeAll(async () => {
  world = await testApp()
  const { db } = world.app
  const { orgId } = world.owner
  const person = (name: string, role: 'owner' | 'member' | 'viewer', org: string, readOnly = false) => {
    const { id: userId } = createUser(db, world.clock, { email: `${name}@example.com`, name })
    addMember(db, world.clock, { orgId: org, userId, role })
    keys[name] = createKey(db, world.clock, { userId, orgId: org, name, expiresInDays: null, readOnly }).secret
  }
  person('member', 'member', orgId)
  person('viewer', 'viewer', orgId)
  person('reader', 'member', orgId, true)
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  person('stranger', 'owner', other.id)
  others.domainId = createDomain(db, world.clock, other.id, { name: 'Other shop' })
  const { body: project } = await world.call('POST', '/v1/projects', {
    as: keys.stranger ?? '',
    body: { name: 'Other' },
  })
  others.projectId = project.id

  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  domainId = domain.id
  await world.call('POST', '/v1/alerts', {
    body: {
      name: 'Purchase has a value',
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'email', target: 'team@example.com' }],
    },
  })
  const agents = {
    Safari:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    Firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0',
  }
  for (const [browser, userAgent] of Object.entries(agents)) {
    for (let n = 0; n < 20; n++) {
      await world.collect(domain.token, {
        batchId: `segments-${browser}-${n}`,
        userAgent,
        sessionId: `${browser} ${n}`,
        page: { url: 'https://shop.example/thanks' },
        events: [{ vendor: 'Shop', event: 'purchase', params: { value: browser === 'Safari' ? '' : '9.5' } }],
      })
    }
  }
  await world.at(world.clock.now() + MINUTE_MS)
  issueId = (await world.call('GET', '/v1/issues')).body.issues[0].id
})
afterAll(() => world[Symbol.asyncDispose]())

const as = (name: string) => (keys[name] ? { as: keys[name] } : {})

describe('the segments that an issue affects', () => {
  test.each(['owner', 'member', 'viewer', 'reader'])('are shown to a %s of the organization', async (name) => {
    const { status, body } = await world.call('GET', `/v1/issues/${issueId}/segments`, as(name))
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { violating: 20, healthy: 20, segments: [{ dimension: 'browser', value: 'Safari', sharePct: 100 }] },
    })
  })

  test.each([
    ['another organization', 'stranger', () => issueId],
    ['an unknown id', 'owner', () => 'iss_01ke7jpe008wq2m5x0t4c9r7hv'],
    ['an id of another kind', 'owner', () => domainId],
  ])('are not found for %s', async (_, name, id) => {
    const { status, body } = await world.call('GET', `/v1/issues/${id()}/segments`, as(name))
    expect({ status, body }).toEqual({ status: 404, body: { error: expect.any(String) } })
  })

  test('require a valid key', async () => {
    for (const path of [`/v1/issues/${issueId}/segments`, '/v1/insights/segments']) {
      expect((await world.call('GET', path, { as: 'ak_none' })).status).toBe(401)
    }
  })

  test('take no parameters', async () => {
    const { status, body } = await world.call('GET', `/v1/issues/${issueId}/segments?from=1`)
    expect({ status, body }).toEqual({ status: 400, body: { error: 'query.from: there is no such field' } })
  })
})

describe('the segments of a change of volume', () => {
  test.each(['owner', 'member', 'viewer', 'reader'])('are shown to a %s of the organization', async (name) => {
    const { status, body } = await world.call('GET', `/v1/insights/segments?domainId=${domainId}`, as(name))
    expect({ status, body }).toMatchObject({ status: 200, body: { violating: 40, segments: [] } })
  })

  test('of another organization are not counted', async () => {
    const { body } = await world.call('GET', '/v1/insights/segments', as('stranger'))
    expect(body).toMatchObject({ violating: 0, healthy: 0, segments: [] })
  })

  test.each([
    [
      'the domain of another organization',
      'stranger',
      () => `domainId=${domainId}`,
      404,
      'query.domainId: no such domain',
    ],
    [
      'the domain of another organization',
      'owner',
      () => `domainId=${others.domainId}`,
      404,
      'query.domainId: no such domain',
    ],
    ['a project of another organization', 'owner', () => `projectId=${others.projectId}`, 404, 'no such project'],
    ['an unknown project', 'owner', () => 'projectId=prj_none', 404, 'no such project'],
    ['an empty period', 'owner', () => 'from=7&to=7', 400, 'query.from: must be before to'],
    [
      'a reversed period',
      'owner',
      () => 'baselineFrom=8&baselineTo=7',
      400,
      'query.baselineFrom: must be before baselineTo',
    ],
    ['a long period', 'owner', () => 'from=0&to=4000000000', 400, 'query.from: must be at most 31 days before to'],
    ['a negative time', 'owner', () => 'from=-1', 400, 'query.from: must be at least 0'],
    ['a time that is not a number', 'owner', () => 'to=yesterday', 400, 'query.to: must be a whole number'],
    ['a fraction', 'owner', () => 'to=1.5', 400, 'query.to: must be a whole number'],
    ['an unknown parameter', 'owner', () => 'since=1', 400, 'query.since: there is no such field'],
  ])('are refused for %s (%s)', async (_, name, query, status, error) => {
    expect(await world.call('GET', `/v1/insights/segments?${query()}`, as(name))).toMatchObject({
      status,
      body: { error },
    })
  })
})
