import { describe, expect, test } from 'bun:test'
import type { HttpOutbound, Reply } from '../../transport/transport.ts'
import { type FixtureOptions, tagManagerFixture } from './google-tag-manager.fixture.ts'
import { CONTAINER, type FakeEntity, KEY_FILE, OAUTH } from './google-tag-manager-server.fixture.ts'

/** A quota that is never reached. */
function unhurried(options: FixtureOptions = {}) {
  const there = tagManagerFixture()
  there.server.behaviour.quota = 10_000
  const world = there.world({ callsPerMinute: 60_000, ...options })
  return { ...world, server: there.server, there, [Symbol.asyncDispose]: () => there[Symbol.asyncDispose]() }
}

const googleError = (code: number, reason: string, message = 'No.') =>
  Response.json({ error: { code, message, errors: [{ reason, message }] } }, { status: code })

describe('a refusal by Google', () => {
  const table: [what: string, code: number, reason: string, said: string][] = [
    ['the scopes', 403, 'insufficientPermissions', 'insufficientPermissions: No.'],
    ['the day’s calls', 403, 'quotaExceeded', 'quotaExceeded: No.'],
    ['the day’s calls, in other words', 403, 'dailyLimitExceeded', 'dailyLimitExceeded: No.'],
    ['a container', 404, 'notFound', 'notFound: No.'],
    ['a body', 400, 'badRequest', 'badRequest: No.'],
    ['something new', 418, 'teapot', 'teapot: No.'],
  ]
  test.each(table)('%s becomes 502 with its reason', async (_what, code, reason, said) => {
    await using world = unhurried()
    const { body } = await world.connect()
    world.server.behaviour.instead = (_method, path) =>
      path.endsWith('/workspaces') ? googleError(code, reason) : null
    const answer = await world.deploy()
    expect([answer.status, answer.body.error]).toEqual([502, `Tag Manager: ${said}`])
    expect(await world.status()).toMatchObject({ status: 'failed', error: `Tag Manager: ${said}` })
    expect(await world.statusOf(body.id)).toBe('failing')
    expect([(await world.list()).status, world.server.asked.length]).toEqual([502, 2])
    world.server.behaviour.instead = () => null
    expect((await world.deploy()).status).toBe(200)
    expect(await world.statusOf(body.id)).toBe('connected')
  })

  test('an HTML page of a proxy becomes 502 with its status', async () => {
    await using world = unhurried()
    await world.connect()
    world.server.behaviour.instead = () => new Response('<h1>no</h1>', { status: 407 })
    expect((await world.deploy()).body.error).toBe('Tag Manager: HTTP 407')
  })

  const waits: [what: string, answer: () => Response][] = [
    ['rateLimitExceeded', () => googleError(403, 'rateLimitExceeded')],
    ['userRateLimitExceeded', () => googleError(403, 'userRateLimitExceeded')],
    [
      'RATE_LIMIT_EXCEEDED',
      () =>
        Response.json(
          { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ reason: 'RATE_LIMIT_EXCEEDED' }] } },
          { status: 429 },
        ),
    ],
    ['429 without a word', () => new Response('', { status: 429, headers: { 'retry-after': '70' } })],
  ]
  test.each(waits)('%s is waited out', async (_what, answer) => {
    await using world = unhurried()
    await world.connect()
    let left = 3
    world.server.behaviour.instead = () => (left-- > 0 ? answer() : null)
    const { status } = await world.passing(world.deployAll())
    expect(status).toBe(200)
    const [first, second, third] = world.server.asked.map(({ at }) => at)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(5000)
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(10_000)
  })

  test('a quota used up by others is waited out', async () => {
    await using there = tagManagerFixture()
    there.server.behaviour.quota = 4
    const world = there.world()
    await world.connect()
    expect((await world.passing(world.deployAll())).body).toMatchObject({ deployed: true })
  })
})

const LOST: Reply = { kind: 'error', message: 'no response within 15 s', permanent: false, hung: true }
const BAD_GATEWAY: Reply = { kind: 'status', status: 502, headers: {}, body: '<h1>Bad Gateway</h1>' }
const CUT: Reply = { kind: 'status', status: 200, headers: {}, body: '{"path": "acc' }

describe('every response is lost once', () => {
  test.each([
    ['no answer', LOST],
    ['502', BAD_GATEWAY],
    ['half an answer', CUT],
  ])('%s after the call took effect: nothing is created twice', async (_what, heard) => {
    await using world = unhurried()
    await world.connect()
    const tag = world.server.give('tags', { name: 'Purchase', type: 'html' })
    const lost = new Set<string>()
    world.wayOut.heard = ({ method, url }: HttpOutbound, reply) => {
      const key = `${method} ${url}`
      if (url.endsWith('/token') || lost.has(key)) return reply
      lost.add(key)
      return heard
    }
    const input = { customerIdVariable: 'Page URL', selectedTags: { [tag]: ['Page URL'] } }
    const { status, body } = await world.passing(world.deployAll(input))
    expect([status, body]).toMatchObject([200, { workspaceCreated: true, template: 'new', tag: 'new' }])
    const space = world.server.space('Tagwarden')
    const counts = [world.server.spaces.size, space?.templates.length, space?.triggers.length, space?.tags.length]
    expect(counts).toEqual([2, 1, 1, 2])
    expect(space?.tags.find(({ tagId }) => tagId === tag)?.monitoringMetadata).toBeDefined()
    expect(lost.size).toBeGreaterThan(12)
  })

  test('half-open connections time out, and nothing is created twice', async () => {
    await using world = unhurried({ timeoutMs: 300 })
    await world.connect()
    const hung = new Set<string>()
    world.server.behaviour.hangs = (method, path) => {
      if (method === 'GET' || hung.has(path)) return false
      hung.add(path)
      return true
    }
    const { status, body } = await world.passing(world.deployAll())
    expect([status, body]).toMatchObject([200, { workspaceCreated: true, template: 'new', tag: 'new' }])
    const space = world.server.space('Tagwarden')
    const counts = [world.server.spaces.size, space?.templates.length, space?.triggers.length, space?.tags.length]
    expect([hung.size, counts]).toEqual([4, [2, 1, 1, 1]])
  })

  test('a call that never gets a response fails with the reason', async () => {
    await using world = unhurried()
    await world.connect()
    world.wayOut.instead = ({ url }) => (url.includes('/workspaces') ? LOST : null)
    const answer = await world.passing(world.deployAll())
    expect([answer.status, answer.body.error]).toEqual([502, 'no response within 15 s'])
  })
})

describe('a concurrent change of a tag', () => {
  const setUp = async (times: number) => {
    const world = unhurried()
    await world.connect()
    const id = world.server.give('tags', { name: 'Purchase', type: 'html', notes: 'old' })
    const tag = () => world.server.space('Tagwarden')?.tags.find(({ tagId }) => tagId === id) as FakeEntity
    let left = times
    world.server.behaviour.instead = (method, path) => {
      if (method === 'PUT' && path.endsWith(`/tags/${id}`) && left-- > 0) {
        Object.assign(tag(), { notes: `new ${left}`, paused: true, fingerprint: `other ${left}` })
      }
      return null
    }
    return { world, id, tag }
  }

  test('is preserved', async () => {
    const { world, id, tag } = await setUp(1)
    await using _ = world
    expect((await world.deploy({ selectedTags: { [id]: [] } })).status).toBe(200)
    expect(tag()).toMatchObject({ notes: 'new 0', paused: true, monitoringMetadataTagNameKey: 'name' })
  })

  test('with numbers that JavaScript can not represent is written unchanged', async () => {
    await using world = unhurried()
    await world.connect()
    const id = world.server.give('tags', { name: 'Purchase', type: 'html', large: 'RAW' })
    world.wayOut.heard = (_outbound, reply) =>
      reply.kind === 'status' ? { ...reply, body: reply.body.replaceAll('"RAW"', '12345678901234567890.10') } : reply
    const written: string[] = []
    world.wayOut.instead = ({ method, body }) => {
      if (method === 'PUT') written.push(body)
      return null
    }
    expect((await world.deploy({ selectedTags: { [id]: [] } })).status).toBe(200)
    expect([written.length, written[0]]).toEqual([1, expect.stringContaining('"large":12345678901234567890.10,')])
  })

  test('that is repeated leaves the tag as others wrote it', async () => {
    const { world, id, tag } = await setUp(2)
    await using _ = world
    const { status, body } = await world.deploy({ selectedTags: { [id]: [] } })
    expect([status, body.error]).toEqual([502, expect.stringContaining('conditionNotMet')])
    expect([tag().notes, tag().monitoringMetadataTagNameKey]).toEqual(['new 0', undefined])
    expect((await world.deploy({ selectedTags: { [id]: [] } })).status).toBe(200)
  })
})

describe('the workspace', () => {
  test('is the default one if the container has reached its limit', async () => {
    await using world = unhurried()
    await world.connect()
    for (const name of ['Ann', 'Bob']) world.server.addSpace(name)
    const { body } = await world.deploy()
    expect(body).toMatchObject({ workspaceName: 'Default Workspace', workspaceCreated: false, template: 'new' })
    expect((await world.list()).body.workspaceName).toBe('Default Workspace')
    expect((await world.deploy()).body).toMatchObject({ workspaceName: 'Default Workspace', template: 'existing' })
  })

  test('is synced to the latest version once if it is behind', async () => {
    await using world = unhurried()
    await world.connect()
    await world.deploy()
    const syncs = () => world.server.asked.filter(({ path }) => path.endsWith(':sync')).length
    expect(syncs()).toBe(0)
    world.server.publish('Summer')
    await world.deploy()
    await world.deploy()
    expect([syncs(), world.server.space('Tagwarden')?.base]).toEqual([1, '13'])
  })

  test.each(['status', 'sync'])('with a conflict reported by %s is not changed', async (teller) => {
    await using world = unhurried()
    await world.connect()
    await world.deploy()
    world.server.publish('Summer')
    const space = world.server.space('Tagwarden')
    if (!space) throw new Error('there is none')
    space.conflicts.push({ entityInWorkspace: { changeStatus: 'updated', tag: { name: 'Purchase' } } })
    if (teller === 'sync') {
      world.server.behaviour.instead = (_method, path) => (path.endsWith('/status') ? Response.json({}) : null)
    }
    const before = world.server.asked.length
    const { status, body } = await world.deploy({ tagName: 'Another' })
    expect([status, body.error]).toEqual([502, expect.stringContaining('mergeConflict')])
    expect(body.error).toContain('tag Purchase')
    const after = world.server.asked
      .slice(before)
      .filter(({ method, path }) => method !== 'GET' && !path.endsWith(':sync'))
    expect(after).toEqual([])
  })

  test('of a container that was never published is used without a sync', async () => {
    await using world = unhurried()
    await world.connect()
    world.server.version.live = null
    expect((await world.deploy()).body).toMatchObject({ deployed: true })
  })
})

describe('an invalid request', () => {
  test.each<[string, (known: string) => object, string]>([
    [
      'a variable of the customer',
      () => ({ customerIdVariable: 'Nobody' }),
      'customerIdVariable: there is no variable Nobody',
    ],
    [
      'a variable of the session',
      () => ({ sessionIdVariable: 'Nobody' }),
      'sessionIdVariable: there is no variable Nobody',
    ],
    ['a tag', () => ({ selectedTags: { '4711': [] } }), 'selectedTags.4711: there is no such tag'],
    ['a name of the report', (tag) => ({ selectedTags: { [tag]: ['status'] } }), 'selectedTags.'],
    ['the name of another tag', () => ({ tagName: 'Purchase' }), 'tagName: another tag'],
    ['a domain', () => ({ whitelistedDomains: ['shop.example', 'a,b'] }), 'whitelistedDomains[1]: must be a host'],
  ])('%s: 400 naming the field, and nothing is written', async (_what, input, begins) => {
    await using world = unhurried()
    await world.connect()
    const tag = world.server.give('tags', { name: 'Purchase', type: 'html' })
    world.server.give('variables', { name: 'status', type: 'v' })
    const { status, body } = await world.deploy(input(tag))
    expect([status, String(body.error).startsWith(begins) ? begins : body.error]).toEqual([400, begins])
    expect(world.server.asked.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/workspaces'))).toEqual(
      [],
    )
  })

  test('returns 404 for an unknown domain and 409 without an integration', async () => {
    await using world = unhurried()
    expect((await world.deploy()).status).toBe(409)
    expect((await world.list()).status).toBe(409)
    expect((await world.status()).status).toBe('none')
    await world.connect()
    expect((await world.deploy({ domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta' })).status).toBe(404)
    expect(world.server.asked).toEqual([])
  })

  test.each([
    [{ accountId: '7' }, 'container.accountId: is 7, but containerPath contains 6'],
    [{ containerId: '72' }, 'container.containerId: is 72, but containerPath contains 71'],
  ])('a container that does not match its path: %j', async (other, error) => {
    await using world = unhurried()
    await world.connect()
    const container = { name: 'Shop', publicId: 'GTM-SHOP', accountId: '6', containerId: '71', ...other }
    const { status, body } = await world.deploy({ container })
    expect([status, body, world.server.asked]).toEqual([400, { error }, []])
  })

  test('returns 409 during a different deployment into the container, while an equal request joins', async () => {
    await using world = unhurried()
    await world.connect()
    const [one, same, other] = await Promise.all([world.deploy(), world.deploy(), world.deploy({ tagName: 'Other' })])
    expect([one.status, same.status, other.status]).toEqual([200, 200, 409])
    expect(same.body).toEqual(one.body)
    expect(world.server.space('Tagwarden')?.tags).toHaveLength(1)
  })
})

describe('signing in', () => {
  const claimsOf = (form: URLSearchParams | undefined) => {
    const [header = '', claims = ''] = (form?.get('assertion') ?? '').split('.')
    return [header, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  }

  test('a service account requests two scopes at the operator’s token URL', async () => {
    await using world = unhurried()
    await world.connect()
    await world.deploy()
    const [header, claims] = claimsOf(world.server.grants[0])
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: KEY_FILE.private_key_id })
    expect(claims).toMatchObject({
      iss: KEY_FILE.client_email,
      aud: world.server.behaviour.audience,
      scope:
        'https://www.googleapis.com/auth/tagmanager.readonly https://www.googleapis.com/auth/tagmanager.edit.containers',
    })
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(3600)
    expect(world.server.grants).toHaveLength(1)
  })

  test('a refresh token yields access tokens, which are renewed when they expire', async () => {
    await using world = unhurried()
    await world.connect(OAUTH)
    expect((await world.deploy()).status).toBe(200)
    expect(Object.fromEntries(world.server.grants[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      client_id: OAUTH.clientId,
      client_secret: OAUTH.clientSecret,
      refresh_token: OAUTH.refreshToken,
    })
    world.clock.advance(3600_000)
    expect((await world.deploy()).status).toBe(200)
    expect(world.server.grants).toHaveLength(2)
  })

  test('a revoked access token is renewed once', async () => {
    await using world = unhurried()
    await world.connect()
    await world.deploy()
    world.server.tokens.length = 0
    expect((await world.deploy()).status).toBe(200)
    world.server.behaviour.instead = () => googleError(401, 'authError')
    expect([(await world.deploy()).status, world.server.grants.length]).toEqual([502, 3])
  })

  test.each(['invalid_grant', 'invalid_client'])(
    '%s: somebody has to sign in again, and nothing is asked',
    async (error) => {
      await using world = unhurried()
      const { body } = await world.connect(OAUTH)
      world.server.behaviour.grant = () => Response.json({ error }, { status: 400 })
      expect((await world.deploy()).status).toBe(409)
      expect(await world.statusOf(body.id)).toBe('reauth_required')
      world.server.behaviour.grant = () => null
      expect([(await world.deploy()).status, (await world.list()).status]).toEqual([409, 409])
      expect([world.server.grants.length, world.server.asked.length]).toEqual([1, 0])
      const put = { provider: 'tag_manager', config: { serviceAccount: KEY_FILE } }
      expect(
        (await world.call('PUT', `/v1/integrations/${body.id}`, { as: world.ada.key, body: put })).body.status,
      ).toBe('connected')
      expect((await world.deploy()).status).toBe(200)
    },
  )

  test('secrets are never returned, logged or stored in plain text', async () => {
    await using world = unhurried()
    const { body } = await world.connect()
    const { private_key, client_email } = KEY_FILE
    world.server.behaviour.instead = (_method, path) =>
      path.endsWith('/workspaces')
        ? googleError(403, 'forbidden', `${world.server.tokens[0]?.token} of ${client_email}`)
        : null
    const test = await world.call('POST', `/v1/integrations/${body.id}/test`, { as: world.ada.key })
    const seen = JSON.stringify([
      body,
      test.body,
      (await world.deploy()).body,
      (await world.list()).body,
      await world.status(),
      (await world.call('GET', `/v1/integrations/${body.id}`, { as: world.ada.key })).body,
      world.reported,
    ])
    expect(seen).toContain('forbidden: … of …')
    const bytes = world.db.serialize()
    const line = private_key.split('\n')[3] ?? 'none'
    for (const secret of [world.server.tokens[0]?.token ?? 'none', client_email, line]) {
      expect([seen.includes(secret), bytes.includes(secret)]).toEqual([false, false])
    }
  })

  test('a connection test lists containers', async () => {
    await using world = unhurried()
    const { body } = await world.connect()
    const test = () => world.call('POST', `/v1/integrations/${body.id}/test`, { as: world.ada.key })
    expect((await test()).body).toEqual({ ok: true, deliveryId: null })
    expect(world.server.asked.map(({ path }) => path)).toEqual(['accounts', 'accounts/6/containers'])
    world.server.behaviour.instead = (_method, path) => (path.endsWith('/containers') ? Response.json({}) : null)
    expect(await test()).toMatchObject({
      status: 502,
      body: { error: expect.stringContaining('no container is accessible') },
    })
  })
})

test.each([
  'http://169.254.169.254/tagmanager/v2',
  'https://10.0.0.1/v2',
  'https://metadata.google.internal/v2',
  'http://2130706433.example/v2',
  'https://[::ffff:10.0.0.1]/v2',
])('a blocked address is never contacted: %s', async (address) => {
  for (const name of ['TAG_MANAGER_URL', 'TAG_MANAGER_TOKEN_URL']) {
    await using world = unhurried({ operator: { [name]: address } })
    await world.connect()
    const answer = await world.passing(world.deployAll())
    expect([name, answer.status, answer.body.error]).toEqual([name, 502, expect.any(String)])
    expect([name, world.server.asked, world.reported]).toEqual([name, [], []])
  }
})

test('every call goes to the requested container, and none publishes', async () => {
  await using world = unhurried()
  await world.connect()
  await world.deploy()
  for (const { path } of world.server.asked) expect(path).toStartWith(`${CONTAINER}/`)
})
