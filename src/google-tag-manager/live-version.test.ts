import { describe, expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { MINUTE_MS } from '../core/clock.ts'
import { tagManagerFixture } from './google-tag-manager.fixture.ts'
import { CONTAINER, KEY_FILE, tagManagerServer } from './google-tag-manager-server.fixture.ts'

describe('a container with a deployment', () => {
  async function deployed() {
    const env = tagManagerFixture()
    env.server.behaviour.quota = 10_000
    const fixture = env.start({ callsPerMinute: 60_000 })
    await fixture.connect()
    await fixture.deploy()
    return { ...env, ...fixture, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() }
  }

  test('is polled, and a new live version is recorded once as a change to its domain', async () => {
    await using fixture = await deployed()
    const { poll, clock, changes, server, domainId, orgId } = fixture
    await poll()
    expect(changes).toEqual([])
    const version = server.publish('Summer sale')
    clock.advance(10 * MINUTE_MS - 1)
    await poll()
    expect(changes).toEqual([
      {
        orgId,
        domainId,
        source: 'tag_manager',
        ref: `GTM-SHOP ${version}`,
        title: 'Summer sale',
        occurredAt: clock.now(),
      },
    ])
    for (let looks = 0; looks < 3; looks++) {
      clock.advance(10 * MINUTE_MS)
      await poll()
    }
    expect(changes).toHaveLength(1)
    server.publish('')
    clock.advance(10 * MINUTE_MS)
    await poll()
    expect(changes.map(({ title }) => title)).toEqual(['Summer sale', 'GTM-SHOP version 14'])
  })

  test('is polled at most every ten minutes, and not after the integration is deleted', async () => {
    await using fixture = await deployed()
    const { poll, clock, server, call, ada } = fixture
    const looks = () => server.asked.filter(({ path }) => path.endsWith('versions:live')).length
    const before = looks()
    for (let minute = 0; minute < 30; minute++) {
      await poll()
      clock.advance(MINUTE_MS)
    }
    expect(looks() - before).toBe(3)
    const { body } = await call('GET', '/v1/integrations', { as: ada.key })
    await call('DELETE', `/v1/integrations/${body.integrations[0].id}`, { as: ada.key })
    clock.advance(10 * MINUTE_MS)
    await poll()
    expect(looks() - before).toBe(3)
    expect(fixture.db.prepare('SELECT count(*) FROM integrationRecord').pluck().get()).toBe(0)
  })

  test('that was never published or is no longer accessible causes no error', async () => {
    await using fixture = await deployed()
    const { poll, clock, server, changes, statusOf, call, ada } = fixture
    const { body } = await call('GET', '/v1/integrations', { as: ada.key })
    const [{ id }] = body.integrations
    server.version.live = null
    clock.advance(10 * MINUTE_MS)
    await poll()
    expect([changes, await statusOf(id)]).toEqual([[], 'connected'])
    server.behaviour.instead = () =>
      Response.json(
        { error: { code: 403, message: 'No.', errors: [{ reason: 'insufficientPermissions' }] } },
        { status: 403 },
      )
    clock.advance(10 * MINUTE_MS)
    await poll()
    expect([changes, await statusOf(id), fixture.reported]).toEqual([[], 'failing', []])
    server.behaviour.instead = () => null
    server.publish('Autumn')
    clock.advance(10 * MINUTE_MS)
    await poll()
    expect([changes.length, await statusOf(id)]).toEqual([1, 'connected'])
  })

  test('is never published', async () => {
    await using fixture = await deployed()
    await fixture.poll()
    expect(fixture.server.asked.filter(({ path }) => /create_version|publish/.test(path))).toEqual([])
  })
})

test('the recorded change has a title and is monitored', async () => {
  const link: { clock: { now(): number } } = { clock: { now: () => 0 } }
  await using server = tagManagerServer({ now: () => link.clock.now() })
  server.behaviour.quota = 10_000
  const settings = {
    ...server.operator,
    TAG_MANAGER_CALLS_PER_MINUTE: '60000',
    outboundAllow: '127.0.0.0/8',
    publicUrl: 'https://watch.example',
  }
  await using fixture = await testApp(settings)
  link.clock = fixture.clock
  const { body: domain } = await fixture.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  await fixture.call('POST', '/v1/integrations', {
    body: { provider: 'tag_manager', config: { serviceAccount: KEY_FILE } },
  })
  const container = { name: 'Shop', publicId: 'GTM-SHOP', accountId: '6', containerId: '71' }
  const body = { domainId: domain.id, containerPath: CONTAINER, container }
  const answer = await fixture.call('POST', '/v1/integrations/tag_manager/deploy', { body })
  expect([answer.status, answer.body]).toMatchObject([200, { deployed: true, template: 'new' }])
  const poll = fixture.app.jobs.find(({ name }) => name === 'poll')
  const version = server.publish('Summer sale')
  fixture.clock.advance(10 * MINUTE_MS)
  await poll?.run()
  await fixture.app.idle()
  const { body: list } = await fixture.call('GET', '/v1/changes')
  expect(list.changes).toMatchObject([
    {
      domainId: domain.id,
      source: 'tag_manager',
      ref: `GTM-SHOP ${version}`,
      title: 'Summer sale',
      status: 'watching',
    },
  ])
})
