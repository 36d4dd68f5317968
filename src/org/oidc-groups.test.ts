import { describe, expect, test } from 'bun:test'
import { principalOf, refusalOf, roleIn, type SetUp, setUp, signInAs, zoe } from './oidc-flow.fixture.ts'
import { groupsFromGraph } from './oidc-groups.ts'
import { openSession } from './session.ts'

const STAFF = '11111111-aaaa-4aaa-8aaa-111111111111'
const ADMINS = '22222222-bbbb-4bbb-8bbb-222222222222'
const OTHER = '33333333-cccc-4ccc-8ccc-333333333333'
const ROLES = [
  { group: STAFF, role: 'viewer' },
  { group: ADMINS, role: 'admin' },
] as const

const { groups: _, ...groupless } = zoe

/** Returns the claims for a user with too many groups. `endpoint` is the URL of the claim source. */
const overage = (endpoint: unknown) => ({
  ...groupless,
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint } },
})
const GRAPH = 'https://graph.microsoft.com/v1.0/users/u-zoe/getMemberObjects'
const entry = (id: string) => ({ '@odata.type': '#microsoft.graph.group', id })

/** Signs Zoe in as a viewer, and configures the next token to omit her groups. */
async function setUpOverage(
  endpoint: unknown = GRAPH,
  roles: readonly { group: string; role: 'viewer' | 'admin' }[] = ROLES,
) {
  const all = await setUp({ settings: { roles } })
  const { user, token } = await signInAs(all, { ...zoe, groups: [roles[0]?.group] })
  all.behaviour.claims = overage(endpoint)
  return { all, user, token }
}

/** Returns the message of a rejected sign-in, after checking that nothing has changed. */
async function refusedWithoutChange({ all, user, token }: Awaited<ReturnType<typeof setUpOverage>>): Promise<string> {
  const before = all.entries.length
  const sentence = await refusalOf(all)
  expect(roleIn(all, user.id)).toBe('viewer')
  expect(principalOf(all, token)).toMatchObject({ userId: user.id, role: 'viewer' })
  expect(all.entries).toHaveLength(before)
  expect(sentence).toStartWith(
    'Acme ID did not send your groups: there are too many to fit into its token (groups overage)',
  )
  expect(sentence).toContain('Your membership is unchanged.')
  expect(sentence).toContain('limit the groups claim of this application to the groups that are assigned')
  expect(all.warnings).toEqual([expect.stringMatching(/^sign-in with Acme ID failed: groups overage: \P{C}+$/u)])
  return sentence
}

const answering = ({ all }: { all: SetUp }, ...answers: (Response | (() => Response))[]) => {
  const asked: { url: URL; headers: Record<string, string> }[] = []
  all.elsewhere.answer = (url, headers) => {
    asked.push({ url, headers })
    const next = answers.length > 1 ? answers.shift() : answers[0]
    if (!next) throw new Error('one request too many')
    return typeof next === 'function' ? next() : next.clone()
  }
  return asked
}

describe('groups listed by Microsoft Graph', () => {
  test('are treated like groups from the token, across all pages', async () => {
    const set = await setUpOverage()
    await using all = set.all
    const next = 'https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$skiptoken=x'
    const asked = answering(
      set,
      Response.json({ value: [entry(STAFF), entry(OTHER)], '@odata.nextLink': next }),
      Response.json({ value: [entry(ADMINS), null, { id: 7 }] }),
    )
    await signInAs(all, overage(GRAPH))
    expect(roleIn(all, set.user.id)).toBe('admin')
    expect(asked.map(({ url }) => url.href)).toEqual([
      'https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$select=id&$top=999',
      next,
    ])
    for (const { headers } of asked) expect(headers.authorization).toBe('Bearer at-u-zoe')
  })

  test.each<[string, Record<string, unknown>]>([
    ['hasgroups', { ...groupless, hasgroups: true, ...overage(GRAPH) }],
    ['the groups claim', { ...groupless, groups: 'src1', _claim_sources: { src1: { endpoint: GRAPH } } }],
    ['an empty list and a claim source', { ...overage(GRAPH), groups: [] }],
  ])('are requested when the token omits them, indicated by %s', async (_, claims) => {
    const set = await setUpOverage()
    await using all = set.all
    answering(set, Response.json({ value: [entry(ADMINS)] }))
    await signInAs(all, claims)
    expect(roleIn(all, set.user.id)).toBe('admin')
  })

  test('end the membership if none has a role, like groups from the token', async () => {
    const set = await setUpOverage()
    await using all = set.all
    answering(set, Response.json({ value: [entry(OTHER)] }))
    expect(await refusalOf(all)).toBe('you are not in a group at Acme ID that is allowed to sign in')
    expect(() => roleIn(all, set.user.id)).toThrow('no such member')
  })

  test.each([
    ['https://graph.microsoft.com/v1.0/users/x/getMemberObjects', 'graph.microsoft.com'],
    ['https://graph.windows.net/tenant/users/x/getMemberObjects', 'graph.microsoft.com'],
    ['https://graph.microsoft.us/v1.0/users/x/getMemberObjects', 'graph.microsoft.us'],
    ['https://dod-graph.microsoft.us/v1.0/users/x/getMemberObjects', 'dod-graph.microsoft.us'],
    ['https://graph.chinacloudapi.cn/tenant/users/x/getMemberObjects', 'microsoftgraph.chinacloudapi.cn'],
  ])('are requested from the Microsoft Graph host for the endpoint %s', async (endpoint, host) => {
    const set = await setUpOverage(endpoint)
    await using all = set.all
    const asked = answering(set, Response.json({ value: [entry(STAFF)] }))
    await signInAs(all, overage(endpoint))
    expect(asked.map(({ url }) => url.href)).toEqual([`https://${host}/v1.0/me/transitiveMemberOf?$select=id&$top=999`])
  })
})

test.each([
  ['https://login.microsoftonline.com/tenant/v2.0', 'graph.microsoft.com'],
  ['https://sts.windows.net/tenant/', 'graph.microsoft.com'],
  ['https://login.microsoftonline.us/tenant/v2.0', 'graph.microsoft.us'],
  ['https://login.partner.microsoftonline.cn/tenant/v2.0', 'microsoftgraph.chinacloudapi.cn'],
])('groups without an endpoint are requested from the Microsoft Graph host for the issuer %s', async (iss, host) => {
  const asked: string[] = []
  const request = async (url: string) => {
    asked.push(new URL(url).host)
    return Response.json({ value: [entry(STAFF)] })
  }
  const parts = { name: 'Entra ID', groupsClaim: 'groups', roles: ROLES, request, timeoutS: 10 }
  for (const endpoint of [undefined, 'https://evil.example/']) {
    expect(await groupsFromGraph(parts, [{ iss, ...overage(endpoint) }, {}], 'at')).toEqual([STAFF])
  }
  expect(await groupsFromGraph(parts, [{ iss, hasgroups: true }, {}], 'at')).toEqual([STAFF])
  expect(asked).toEqual([host, host, host])
})

describe('unknown groups cause the sign-in to fail without changes', () => {
  test.each<unknown>([
    null,
    7,
    '',
    'graph.microsoft.com',
    'http://graph.microsoft.com/v1.0/me',
    'https://graph.microsoft.com:8443/v1.0/me',
    'https://graph.microsoft.com.evil.example/v1.0/me',
    'https://graph.microsoft.com@evil.example/v1.0/me',
    'https://evil.example/graph.microsoft.com',
    'https://127.0.0.1/v1.0/me',
    'file:///etc/passwd',
  ])('if the endpoint is not Microsoft Graph, which is then not requested: %j', async (endpoint) => {
    const set = await setUpOverage(endpoint)
    await using all = set.all
    const asked = answering(set, Response.json({ value: [entry(STAFF)] }))
    await refusedWithoutChange(set)
    expect(asked).toEqual([])
    expect(all.warnings.join()).toContain('the token does not name a Microsoft Graph endpoint')
  })

  test('if the token names no source of groups', async () => {
    const set = await setUpOverage()
    await using all = set.all
    all.behaviour.claims = { ...groupless, hasgroups: true }
    await refusedWithoutChange(set)
  })

  test.each([401, 403])('if Graph responds with %d, and the message names the missing permission', async (status) => {
    const set = await setUpOverage()
    await using _all = set.all
    answering(set, Response.json({ error: { code: 'x', message: 'Call 555' } }, { status }))
    const sentence = await refusedWithoutChange(set)
    expect(sentence).toContain(`Microsoft Graph refused to list them (HTTP ${status})`)
    expect(sentence).toEndWith('or give it the delegated Microsoft Graph permission User.Read with admin consent')
  })

  const ELSEWHERE = 'https://evil.example/v1.0/me/transitiveMemberOf?$skiptoken=x'
  const page = (next: unknown) => () => Response.json({ value: [entry(STAFF)], '@odata.nextLink': next })
  test.each<[string, () => Response]>([
    ['429', () => new Response('', { status: 429 })],
    ['503', () => new Response('', { status: 503 })],
    ['a redirect', () => Response.redirect(ELSEWHERE, 302)],
    ['nothing', () => new Response(null, { status: 200 })],
    ['not JSON', () => new Response('{', { status: 200 })],
    ['an unexpected format', () => Response.json({ value: { id: STAFF } })],
    ['a list', () => Response.json([entry(STAFF)])],
    ['a next page elsewhere', page(ELSEWHERE)],
    ['a next page without TLS', page('http://graph.microsoft.com/v1.0/me')],
    ['a next page with a password', page('https://a:b@graph.microsoft.com/v1.0/me')],
    ['a next page that is not a URL', page('/v1.0/me')],
    ['a next page that is not a string', page(7)],
    ['endless pages', page('https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$skiptoken=x')],
  ])('if Graph responds with %s', async (_, answer) => {
    const set = await setUpOverage()
    await using _all = set.all
    const asked = answering(set, answer)
    const sentence = await refusedWithoutChange(set)
    expect(sentence).toContain('Microsoft Graph could not list them')
    expect(new Set(asked.map(({ url }) => url.origin))).toEqual(new Set(['https://graph.microsoft.com']))
    expect(asked.length).toBeLessThanOrEqual(20)
  })

  test('if Graph is unreachable', async () => {
    const set = await setUpOverage()
    await using _all = set.all
    expect(await refusedWithoutChange(set)).toContain('could not list them')
  })

  test('if the setting lists groups by name, because Graph returns only ids', async () => {
    const set = await setUpOverage(GRAPH, [
      { group: 'staff', role: 'viewer' },
      { group: ADMINS, role: 'admin' },
    ])
    await using all = set.all
    answering(set, Response.json({ value: [entry(OTHER)] }))
    expect(await refusedWithoutChange(set)).toContain('by their object id in TAGWARDEN_OIDC_ROLES')
    // No group that is configured by name could give a higher role.
    answering(set, Response.json({ value: [entry(ADMINS)] }))
    await signInAs(all, overage(GRAPH))
    expect(roleIn(all, set.user.id)).toBe('admin')
  })

  test('for a new user, who is not created', async () => {
    await using all = await setUp()
    all.behaviour.claims = overage('https://evil.example')
    expect(await refusalOf(all)).toContain('groups overage')
    expect(all.db.prepare('SELECT 1 FROM user WHERE email = ?').all(zoe.email)).toEqual([])
  })

  test('for a user with a password session, which remains valid', async () => {
    await using all = await setUp()
    const { bob } = all.cast
    const session = openSession(all.db, all.clock, bob.userId, 'password')
    all.behaviour.claims = { ...overage('https://evil.example'), email: bob.email }
    expect(await refusalOf(all)).toContain('groups overage')
    expect(principalOf(all, session.token).role).toBe('member')
  })
})
