import { describe, expect, test } from 'bun:test'
import type { HttpOutbound, Reply } from '../transport/transport.ts'
import { type FixtureOptions, tagManagerFixture } from './google-tag-manager.fixture.ts'
import { CONTAINER, type FakeEntity, KEY_FILE, OAUTH } from './google-tag-manager-server.fixture.ts'

/** A server with a quota that is never reached. */
function withoutQuota(options: FixtureOptions = {}) {
  const env = tagManagerFixture()
  env.server.behaviour.quota = 10_000
  const fixture = env.start({ callsPerMinute: 60_000, ...options })
  return { ...fixture, server: env.server, env, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() }
}

const googleError = (code: number, reason: string, message = 'No.') =>
  Response.json({ error: { code, message, errors: [{ reason, message }] } }, { status: code })

describe('an error from Google', () => {
  const table: [what: string, code: number, reason: string, said: string][] = [
    ['missing scopes', 403, 'insufficientPermissions', 'insufficientPermissions: No.'],
    ['the daily quota', 403, 'quotaExceeded', 'quotaExceeded: No.'],
    ['the daily limit', 403, 'dailyLimitExceeded', 'dailyLimitExceeded: No.'],
    ['a missing container', 404, 'notFound', 'notFound: No.'],
    ['an invalid body', 400, 'badRequest', 'badRequest: No.'],
    ['an unknown reason', 418, 'teapot', 'teapot: No.'],
  ]
  test.each(table)('about %s is returned as a 502 with its reason', async (_what, code, reason, said) => {
    await using fixture = withoutQuota()
    const { body } = await fixture.connect()
    fixture.server.behaviour.instead = (_method, path) =>
      path.endsWith('/workspaces') ? googleError(code, reason) : null
    const answer = await fixture.deploy()
    expect([answer.status, answer.body.error]).toEqual([502, `Tag Manager: ${said}`])
    expect(await fixture.status()).toMatchObject({ status: 'failed', error: `Tag Manager: ${said}` })
    expect(await fixture.statusOf(body.id)).toBe('failing')
    expect([(await fixture.list()).status, fixture.server.asked.length]).toEqual([502, 2])
    fixture.server.behaviour.instead = () => null
    expect((await fixture.deploy()).status).toBe(200)
    expect(await fixture.statusOf(body.id)).toBe('connected')
  })

  test('in an HTML page from a proxy is returned as a 502 with its status', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    fixture.server.behaviour.instead = () => new Response('<h1>no</h1>', { status: 407 })
    expect((await fixture.deploy()).body.error).toBe('Tag Manager: HTTP 407')
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
    ['429 with an empty body', () => new Response('', { status: 429, headers: { 'retry-after': '70' } })],
  ]
  test.each(waits)('is retried after a delay (%s)', async (_what, answer) => {
    await using fixture = withoutQuota()
    await fixture.connect()
    let left = 3
    fixture.server.behaviour.instead = () => (left-- > 0 ? answer() : null)
    const { status } = await fixture.passing(fixture.deployAll())
    expect(status).toBe(200)
    const [first, second, third] = fixture.server.asked.map(({ at }) => at)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(5000)
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(10_000)
  })

  test('about a quota used up by other clients is retried until the quota is available', async () => {
    await using env = tagManagerFixture()
    env.server.behaviour.quota = 4
    const fixture = env.start()
    await fixture.connect()
    expect((await fixture.passing(fixture.deployAll())).body).toMatchObject({ deployed: true })
  })
})

const LOST: Reply = { kind: 'error', message: 'no response within 15 s', permanent: false, hung: true }
const BAD_GATEWAY: Reply = { kind: 'status', status: 502, headers: {}, body: '<h1>Bad Gateway</h1>' }
const CUT: Reply = { kind: 'status', status: 200, headers: {}, body: '{"path": "acc' }

describe('lost responses', () => {
  test.each([
    ['no response', LOST],
    ['502', BAD_GATEWAY],
    ['a truncated response', CUT],
  ])('create no duplicates when the calls took effect (%s)', async (_what, afterCall) => {
    await using fixture = withoutQuota()
    await fixture.connect()
    const tag = fixture.server.give('tags', { name: 'Purchase', type: 'html' })
    const lost = new Set<string>()
    fixture.network.afterCall = ({ method, url }: HttpOutbound, reply) => {
      const key = `${method} ${url}`
      if (url.endsWith('/token') || lost.has(key)) return reply
      lost.add(key)
      return afterCall
    }
    const input = { customerIdVariable: 'Page URL', selectedTags: { [tag]: ['Page URL'] } }
    const { status, body } = await fixture.passing(fixture.deployAll(input))
    expect([status, body]).toMatchObject([200, { workspaceCreated: true, template: 'new', tag: 'new' }])
    const space = fixture.server.space('Tagwarden')
    const counts = [fixture.server.spaces.size, space?.templates.length, space?.triggers.length, space?.tags.length]
    expect(counts).toEqual([2, 1, 1, 2])
    expect(space?.tags.find(({ tagId }) => tagId === tag)?.monitoringMetadata).toBeDefined()
    expect(lost.size).toBeGreaterThan(12)
  })

  test('on half-open connections time out and create no duplicates', async () => {
    await using fixture = withoutQuota({ timeoutMs: 300 })
    await fixture.connect()
    const hung = new Set<string>()
    fixture.server.behaviour.hangs = (method, path) => {
      if (method === 'GET' || hung.has(path)) return false
      hung.add(path)
      return true
    }
    const { status, body } = await fixture.passing(fixture.deployAll())
    expect([status, body]).toMatchObject([200, { workspaceCreated: true, template: 'new', tag: 'new' }])
    const space = fixture.server.space('Tagwarden')
    const counts = [fixture.server.spaces.size, space?.templates.length, space?.triggers.length, space?.tags.length]
    expect([hung.size, counts]).toEqual([4, [2, 1, 1, 1]])
  })

  test('are reported with the reason if no attempt gets a response', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    fixture.network.instead = ({ url }) => (url.includes('/workspaces') ? LOST : null)
    const answer = await fixture.passing(fixture.deployAll())
    expect([answer.status, answer.body.error]).toEqual([502, 'no response within 15 s'])
  })
})

describe('a concurrent change to a tag', () => {
  const setUp = async (times: number) => {
    const fixture = withoutQuota()
    await fixture.connect()
    const id = fixture.server.give('tags', { name: 'Purchase', type: 'html', notes: 'old' })
    const tag = () => fixture.server.space('Tagwarden')?.tags.find(({ tagId }) => tagId === id) as FakeEntity
    let left = times
    fixture.server.behaviour.instead = (method, path) => {
      if (method === 'PUT' && path.endsWith(`/tags/${id}`) && left-- > 0) {
        Object.assign(tag(), { notes: `new ${left}`, paused: true, fingerprint: `other ${left}` })
      }
      return null
    }
    return { fixture, id, tag }
  }

  test('is preserved', async () => {
    const { fixture, id, tag } = await setUp(1)
    await using _ = fixture
    expect((await fixture.deploy({ selectedTags: { [id]: [] } })).status).toBe(200)
    expect(tag()).toMatchObject({ notes: 'new 0', paused: true, monitoringMetadataTagNameKey: 'name' })
  })

  test("with numbers that JavaScript can't represent is written unchanged", async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    const id = fixture.server.give('tags', { name: 'Purchase', type: 'html', large: 'RAW' })
    fixture.network.afterCall = (_outbound, reply) =>
      reply.kind === 'status' ? { ...reply, body: reply.body.replaceAll('"RAW"', '12345678901234567890.10') } : reply
    const written: string[] = []
    fixture.network.instead = ({ method, body }) => {
      if (method === 'PUT') written.push(body)
      return null
    }
    expect((await fixture.deploy({ selectedTags: { [id]: [] } })).status).toBe(200)
    expect([written.length, written[0]]).toEqual([1, expect.stringContaining('"large":12345678901234567890.10,')])
  })

  test('that happens again during the retry is not overwritten', async () => {
    const { fixture, id, tag } = await setUp(2)
    await using _ = fixture
    const { status, body } = await fixture.deploy({ selectedTags: { [id]: [] } })
    expect([status, body.error]).toEqual([502, expect.stringContaining('conditionNotMet')])
    expect([tag().notes, tag().monitoringMetadataTagNameKey]).toEqual(['new 0', undefined])
    expect((await fixture.deploy({ selectedTags: { [id]: [] } })).status).toBe(200)
  })
})

describe('the deployment workspace', () => {
  test('is the default workspace if the container has reached its limit', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    for (const name of ['Ann', 'Bob']) fixture.server.addSpace(name)
    const { body } = await fixture.deploy()
    expect(body).toMatchObject({ workspaceName: 'Default Workspace', workspaceCreated: false, template: 'new' })
    expect((await fixture.list()).body.workspaceName).toBe('Default Workspace')
    expect((await fixture.deploy()).body).toMatchObject({ workspaceName: 'Default Workspace', template: 'existing' })
  })

  test('is synced to the latest version once if it is behind', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    await fixture.deploy()
    const syncs = () => fixture.server.asked.filter(({ path }) => path.endsWith(':sync')).length
    expect(syncs()).toBe(0)
    fixture.server.publish('Summer')
    await fixture.deploy()
    await fixture.deploy()
    expect([syncs(), fixture.server.space('Tagwarden')?.base]).toEqual([1, '13'])
  })

  test.each(['status', 'sync'])('is not changed after a conflict reported by the %s call', async (teller) => {
    await using fixture = withoutQuota()
    await fixture.connect()
    await fixture.deploy()
    fixture.server.publish('Summer')
    const space = fixture.server.space('Tagwarden')
    if (!space) throw new Error('there is none')
    space.conflicts.push({ entityInWorkspace: { changeStatus: 'updated', tag: { name: 'Purchase' } } })
    if (teller === 'sync') {
      fixture.server.behaviour.instead = (_method, path) => (path.endsWith('/status') ? Response.json({}) : null)
    }
    const before = fixture.server.asked.length
    const { status, body } = await fixture.deploy({ tagName: 'Another' })
    expect([status, body.error]).toEqual([502, expect.stringContaining('mergeConflict')])
    expect(body.error).toContain('tag Purchase')
    const after = fixture.server.asked
      .slice(before)
      .filter(({ method, path }) => method !== 'GET' && !path.endsWith(':sync'))
    expect(after).toEqual([])
  })

  test('is used without a sync if the container was never published', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    fixture.server.version.live = null
    expect((await fixture.deploy()).body).toMatchObject({ deployed: true })
  })
})

describe('an invalid request', () => {
  test.each<[string, (known: string) => object, string]>([
    [
      'an unknown customer variable',
      () => ({ customerIdVariable: 'Nobody' }),
      'customerIdVariable: there is no variable Nobody',
    ],
    [
      'an unknown session variable',
      () => ({ sessionIdVariable: 'Nobody' }),
      'sessionIdVariable: there is no variable Nobody',
    ],
    ['an unknown tag', () => ({ selectedTags: { '4711': [] } }), 'selectedTags.4711: there is no such tag'],
    ['a reserved name', (tag) => ({ selectedTags: { [tag]: ['status'] } }), 'selectedTags.'],
    ['the name of another tag', () => ({ tagName: 'Purchase' }), 'tagName: another tag'],
    [
      'an invalid hostname',
      () => ({ whitelistedDomains: ['shop.example', 'a,b'] }),
      'whitelistedDomains[1]: must be a host',
    ],
  ])('returns 400 with the name of the field and writes nothing (%s)', async (_what, input, begins) => {
    await using fixture = withoutQuota()
    await fixture.connect()
    const tag = fixture.server.give('tags', { name: 'Purchase', type: 'html' })
    fixture.server.give('variables', { name: 'status', type: 'v' })
    const { status, body } = await fixture.deploy(input(tag))
    expect([status, String(body.error).startsWith(begins) ? begins : body.error]).toEqual([400, begins])
    expect(
      fixture.server.asked.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/workspaces')),
    ).toEqual([])
  })

  test('returns 404 for an unknown domain and 409 without an integration', async () => {
    await using fixture = withoutQuota()
    expect((await fixture.deploy()).status).toBe(409)
    expect((await fixture.list()).status).toBe(409)
    expect((await fixture.status()).status).toBe('none')
    await fixture.connect()
    expect((await fixture.deploy({ domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta' })).status).toBe(404)
    expect(fixture.server.asked).toEqual([])
  })

  test.each([
    [{ accountId: '7' }, 'container.accountId: is 7, but containerPath contains 6'],
    [{ containerId: '72' }, 'container.containerId: is 72, but containerPath contains 71'],
  ])('is rejected if the container does not match its path: %j', async (other, error) => {
    await using fixture = withoutQuota()
    await fixture.connect()
    const container = { name: 'Shop', publicId: 'GTM-SHOP', accountId: '6', containerId: '71', ...other }
    const { status, body } = await fixture.deploy({ container })
    expect([status, body, fixture.server.asked]).toEqual([400, { error }, []])
  })

  test('returns 409 during a different deployment to the same container, while an identical request shares its result', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    const [one, same, other] = await Promise.all([
      fixture.deploy(),
      fixture.deploy(),
      fixture.deploy({ tagName: 'Other' }),
    ])
    expect([one.status, same.status, other.status]).toEqual([200, 200, 409])
    expect(same.body).toEqual(one.body)
    expect(fixture.server.space('Tagwarden')?.tags).toHaveLength(1)
  })
})

describe('authentication', () => {
  const claimsOf = (form: URLSearchParams | undefined) => {
    const [header = '', claims = ''] = (form?.get('assertion') ?? '').split('.')
    return [header, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  }

  test('with a service account requests two scopes at the operator’s token URL', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    await fixture.deploy()
    const [header, claims] = claimsOf(fixture.server.grants[0])
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: KEY_FILE.private_key_id })
    expect(claims).toMatchObject({
      iss: KEY_FILE.client_email,
      aud: fixture.server.behaviour.audience,
      scope:
        'https://www.googleapis.com/auth/tagmanager.readonly https://www.googleapis.com/auth/tagmanager.edit.containers',
    })
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(3600)
    expect(fixture.server.grants).toHaveLength(1)
  })

  test('with a refresh token gets access tokens, which are renewed when they expire', async () => {
    await using fixture = withoutQuota()
    await fixture.connect(OAUTH)
    expect((await fixture.deploy()).status).toBe(200)
    expect(Object.fromEntries(fixture.server.grants[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      client_id: OAUTH.clientId,
      client_secret: OAUTH.clientSecret,
      refresh_token: OAUTH.refreshToken,
    })
    fixture.clock.advance(3600_000)
    expect((await fixture.deploy()).status).toBe(200)
    expect(fixture.server.grants).toHaveLength(2)
  })

  test('renews a revoked access token once', async () => {
    await using fixture = withoutQuota()
    await fixture.connect()
    await fixture.deploy()
    fixture.server.tokens.length = 0
    expect((await fixture.deploy()).status).toBe(200)
    fixture.server.behaviour.instead = () => googleError(401, 'authError')
    expect([(await fixture.deploy()).status, fixture.server.grants.length]).toEqual([502, 3])
  })

  test.each(['invalid_grant', 'invalid_client'])(
    'requires a new sign-in after %s, and makes no calls until then',
    async (error) => {
      await using fixture = withoutQuota()
      const { body } = await fixture.connect(OAUTH)
      fixture.server.behaviour.grant = () => Response.json({ error }, { status: 400 })
      expect((await fixture.deploy()).status).toBe(409)
      expect(await fixture.statusOf(body.id)).toBe('reauth_required')
      fixture.server.behaviour.grant = () => null
      expect([(await fixture.deploy()).status, (await fixture.list()).status]).toEqual([409, 409])
      expect([fixture.server.grants.length, fixture.server.asked.length]).toEqual([1, 0])
      const put = { provider: 'tag_manager', config: { serviceAccount: KEY_FILE } }
      expect(
        (await fixture.call('PUT', `/v1/integrations/${body.id}`, { as: fixture.ada.key, body: put })).body.status,
      ).toBe('connected')
      expect((await fixture.deploy()).status).toBe(200)
    },
  )

  test('never returns secrets, logs them or stores them in plain text', async () => {
    await using fixture = withoutQuota()
    const { body } = await fixture.connect()
    const { private_key, client_email } = KEY_FILE
    fixture.server.behaviour.instead = (_method, path) =>
      path.endsWith('/workspaces')
        ? googleError(403, 'forbidden', `${fixture.server.tokens[0]?.token} of ${client_email}`)
        : null
    const test = await fixture.call('POST', `/v1/integrations/${body.id}/test`, { as: fixture.ada.key })
    const seen = JSON.stringify([
      body,
      test.body,
      (await fixture.deploy()).body,
      (await fixture.list()).body,
      await fixture.status(),
      (await fixture.call('GET', `/v1/integrations/${body.id}`, { as: fixture.ada.key })).body,
      fixture.reported,
    ])
    expect(seen).toContain('forbidden: … of …')
    const bytes = fixture.db.serialize()
    const line = private_key.split('\n')[3] ?? 'none'
    for (const secret of [fixture.server.tokens[0]?.token ?? 'none', client_email, line]) {
      expect([seen.includes(secret), bytes.includes(secret)]).toEqual([false, false])
    }
  })

  test('is checked by a connection test that lists containers', async () => {
    await using fixture = withoutQuota()
    const { body } = await fixture.connect()
    const test = () => fixture.call('POST', `/v1/integrations/${body.id}/test`, { as: fixture.ada.key })
    expect((await test()).body).toEqual({ ok: true, deliveryId: null })
    expect(fixture.server.asked.map(({ path }) => path)).toEqual(['accounts', 'accounts/6/containers'])
    fixture.server.behaviour.instead = (_method, path) => (path.endsWith('/containers') ? Response.json({}) : null)
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
])('a blocked URL is never contacted: %s', async (address) => {
  for (const name of ['TAG_MANAGER_URL', 'TAG_MANAGER_TOKEN_URL']) {
    await using fixture = withoutQuota({ operator: { [name]: address } })
    await fixture.connect()
    const answer = await fixture.passing(fixture.deployAll())
    expect([name, answer.status, answer.body.error]).toEqual([name, 502, expect.any(String)])
    expect([name, fixture.server.asked, fixture.reported]).toEqual([name, [], []])
  }
})

test('every call is for the requested container, and no call publishes', async () => {
  await using fixture = withoutQuota()
  await fixture.connect()
  await fixture.deploy()
  for (const { path } of fixture.server.asked) expect(path).toStartWith(`${CONTAINER}/`)
})
