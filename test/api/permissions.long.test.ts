import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ROLES, type Role } from '../../src/contract/roles.ts'
import { unsubscribeToken } from '../../src/digest/unsubscribe.ts'
import { needsFullKey, PERMISSIONS, type Permission } from '../../src/http/permission.ts'
import { openWebhookSecret } from '../../src/org/store.ts'
import { checkAnswer, needsDomain, nounsOf, pathOf, type Route } from './openapi-routes.ts'
import { describedApi, type TestTenant } from './two-tenants.ts'
import { acceptedCall, createObjects, make, newAddress, PLANTED } from './valid-calls.ts'

/*
 * Calls every route of the OpenAPI document with every kind of caller. Permitted callers succeed, others are rejected,
 * and no caller sees another caller's data. New routes are covered automatically.
 */

const { world, routes, passwordHash, tenant } = await describedApi()
afterAll(() => world[Symbol.asyncDispose]())

/**
 * A kind of caller: a user with a role in the organization, the owner of another organization, or a caller without a
 * valid credential.
 */
interface Caller {
  what: string
  /** Role of the caller; null without a valid credential. */
  role: Role | null
  via?: 'session'
  readOnly?: true
  /**
   * Set for a caller from another organization. With `named`, requests have the id of this organization in `X-Org-Id`.
   */
  stranger?: 'silent' | 'named'
  credential(home: TestTenant): string | null
}

const CALLERS: readonly Caller[] = [
  { what: 'an anonymous caller', role: null, credential: () => null },
  { what: 'an unknown key', role: null, credential: () => 'ak_nobody-made-this-key' },
  { what: 'an expired key', role: null, credential: ({ expiredKey }) => expiredKey },
  { what: 'a revoked key', role: null, credential: ({ revokedKey }) => revokedKey },
  { what: 'an ended session', role: null, credential: ({ endedSession }) => endedSession },
  // A viewer's key is always read-only.
  { what: "a viewer's key", role: 'viewer', readOnly: true, credential: ({ people }) => people.viewer.key },
  { what: "a member's key", role: 'member', credential: ({ people }) => people.member.key },
  { what: "an admin's key", role: 'admin', credential: ({ people }) => people.admin.key },
  { what: "an owner's key", role: 'owner', credential: ({ people }) => people.owner.key },
  { what: "an owner's read-only key", role: 'owner', readOnly: true, credential: ({ readOnlyKey }) => readOnlyKey },
  { what: "a viewer's session", role: 'viewer', via: 'session', credential: ({ people }) => people.viewer.session },
  { what: "an owner's session", role: 'owner', via: 'session', credential: ({ people }) => people.owner.session },
  {
    what: "another organization's owner",
    role: 'owner',
    stranger: 'silent',
    credential: ({ people }) => people.owner.key,
  },
  {
    what: "another organization's owner with this organization's X-Org-Id",
    role: 'owner',
    stranger: 'named',
    credential: ({ people }) => people.owner.key,
  },
]

const permissionOf = ({ name, permission }: Route) => {
  const row = Object.hasOwn(PERMISSIONS, String(permission)) ? PERMISSIONS[permission as Permission] : null
  if (!row) throw new Error(`${name}: no such permission in the matrix: ${permission}`)
  return row
}

/** Returns the error status that the permission matrix requires; null for a permitted call. */
function refusalOf(route: Route, { role, readOnly, stranger }: Caller): 401 | 403 | 404 | null {
  const { from } = permissionOf(route)
  if (from === null) return null
  if (role === null) return 401
  if (
    stranger === 'named' ||
    ROLES.indexOf(role) < ROLES.indexOf(from) ||
    (readOnly && needsFullKey(route.permission as Permission))
  )
    return 403
  return stranger && (route.path.includes('{') || needsDomain(route)) ? 404 : null
}

/** Permitted calls that fail because of the state of the data, with the reason. `isFirst`: before the id is checked. */
const OTHERWISE: Record<string, { status: number; why: string; isFirst?: true; when?(caller: Caller): boolean }> = {
  setUp: { status: 409, why: 'an owner already exists' },
  startSignIn: { status: 404, why: 'no company sign-in is configured' },
  finishSignIn: { status: 404, why: 'no company sign-in is configured' },
  redeemSignIn: { status: 404, why: 'no company sign-in is configured' },
  listSessions: { status: 409, why: 'an API key has no session', when: ({ via }) => via !== 'session' },
  endSession: { status: 404, why: 'an API key cannot list sessions', when: ({ via }) => via !== 'session' },
  getSecondFactor: { status: 409, why: 'an API key has no second factor', when: ({ via }) => via !== 'session' },
  beginSecondFactor: { status: 409, why: 'an API key has no second factor', when: ({ via }) => via !== 'session' },
  confirmSecondFactor: { status: 409, why: 'no second factor has been begun' },
  removeSecondFactor: { status: 409, why: 'an API key has no second factor', when: ({ via }) => via !== 'session' },
  replaceRecoveryCodes: { status: 409, why: 'no second factor is enabled' },
  signOut: { status: 409, why: 'an API key has no session', when: ({ via }) => via !== 'session' },
  receiveFromIssueTracker: { status: 401, why: 'the caller needs an integration token' },
  deployTags: { status: 409, why: 'no tag manager is connected' },
  listContainerTags: { status: 409, why: 'no tag manager is connected' },
  changePassword: { status: 409, why: 'an API key cannot change a password', when: ({ via }) => via !== 'session' },
  receiveFromOfficeChat: { status: 401, why: 'the caller needs a token from Microsoft Teams' },
  showShare: { status: 404, why: 'no run is shared under this token' },
  runFlowTest: { status: 409, why: 'Chromium is not installed' },
  cancelRun: { status: 409, why: 'the run has ended' },
  cancelAudit: { status: 409, why: 'the audit has ended' },
  createAudit: { status: 409, why: 'Chromium is not installed' },
  deleteIssueComment: { status: 404, why: 'the caller has written no comment' },
  listBackups: { status: 403, why: 'the server has several organizations' },
  createBackup: { status: 403, why: 'the server has several organizations' },
  downloadBackup: { status: 403, why: 'the server has several organizations', isFirst: true },
  listCollectors: { status: 403, why: 'the server has several organizations' },
  addCollector: { status: 403, why: 'the server has several organizations' },
  removeCollector: { status: 403, why: 'the server has several organizations', isFirst: true },
  resumeSending: { status: 403, why: 'the server has several organizations' },
  chooseOfficeChatChannel: { status: 409, why: 'the bot is not installed in any team' },
}

/** A required query parameter. */
const CONTAINER = { containerPath: 'accounts/6/containers/71' }
/** An unsubscribe token from the digest of a user who has since been deleted. */
const LINK = { t: unsubscribeToken(world.app.box, { kind: 'digest', orgId: 'org_none', userId: 'usr_none' }) }
const QUERIES: Record<string, Record<string, string>> = {
  compareTraffic: { aEnv: 'prod', bEnv: 'dev' },
  getTagDeployment: CONTAINER,
  groupFindings: { by: 'vendor' },
  listContainerTags: CONTAINER,
  receiveFromIssueTracker: { t: 'guessed' },
  searchNames: { q: 'shop' },
  showUnsubscribe: LINK,
  unsubscribe: LINK,
}

/** A planted secret and the lowest role that is permitted to view it; null when no role is. */
interface Secret {
  what: string
  value: string
  from: Role | null
  /** The user to whom the secret belongs, if any. */
  userId?: string
  /** True when read-only keys do not show the secret. */
  fullKey?: true
}

function secretsOf({ orgId, people, ...keys }: TestTenant): Secret[] {
  const { readOnlyKey, expiredKey, revokedKey, endedSession } = keys
  return [
    {
      what: 'webhook secret',
      value: openWebhookSecret(world.app.db, world.app.box, orgId),
      from: 'admin',
      fullKey: true,
    },
    { what: 'password hash', value: passwordHash.slice(-40), from: null },
    ...[readOnlyKey, expiredKey, revokedKey].map((value) => ({ what: 'API key', value, from: null })),
    { what: 'session token', value: endedSession, from: null },
    ...Object.values(people).flatMap(({ email, userId, key, session }): Secret[] => [
      { what: 'e-mail address', value: email, from: 'admin', userId },
      { what: 'API key', value: key, from: null },
      { what: 'session token', value: session, from: null },
    ]),
  ]
}

/** One resource of each kind, used only for reading. */
let exhibit: { home: TestTenant; ids: Record<string, string>; secrets: Secret[] }

beforeAll(async () => {
  const home = tenant()
  const { ids, propertyToken, inviteToken } = await createObjects({ world, tenant: home })
  const { mail, hook, gone, slack, workflow, config, secret, invited } = PLANTED
  const secrets: Secret[] = [
    ...secretsOf(home),
    { what: 'property token', value: propertyToken, from: 'member', fullKey: true },
    ...[mail, hook, gone, slack, workflow].map(
      (value) => ({ what: 'channel target', value, from: 'member', fullKey: true }) as const,
    ),
    { what: 'integration setting', value: config, from: 'admin', fullKey: true },
    { what: 'integration secret', value: secret.slice('whsec_'.length), from: null },
    { what: 'e-mail address', value: invited, from: 'admin' },
    { what: 'invitation', value: inviteToken, from: null },
  ]
  exhibit = { home, ids, secrets }
})

/** Returns the secrets in a string that the caller is not permitted to view. */
function leaked(text: string, { role, readOnly }: Caller, userId: string | null, secrets: readonly Secret[]): string[] {
  const mayKnow = ({ from, fullKey, userId: whose }: Secret) =>
    (whose !== undefined && whose === userId) ||
    (role !== null && from !== null && ROLES.indexOf(role) >= ROLES.indexOf(from) && !(readOnly && fullKey))
  return secrets.filter((secret) => text.includes(secret.value) && !mayKnow(secret)).map(({ what }) => what)
}

/** Returns a valid call. New resources are created for it, unless the call only reads. */
async function callOf(route: Route, caller: Caller) {
  const refusal = refusalOf(route, caller)
  const isLook = route.method === 'GET' || refusal === 401 || refusal === 403
  const home = isLook ? exhibit.home : tenant()
  const own = caller.stranger ? tenant() : home
  const { userId } = own.people[caller.role ?? 'owner']
  // For callers from another organization, only the path refers to this organization. The body refers to the caller's
  // own resources.
  const callers = isLook
    ? { ids: exhibit.ids, body: route.example }
    : await acceptedCall(route, { world, tenant: own, userId }, tenant())
  const { ids } = caller.stranger && !isLook ? await acceptedCall(route, { world, tenant: home }, tenant()) : callers
  const query = {
    ...(route.id === 'deleteOrganization' ? { name: own.name } : {}),
    ...(needsDomain(route) ? { domainId: ids.domains ?? '' } : {}),
    ...QUERIES[route.id],
  }
  return {
    path: `${pathOf(route, ids)}?${new URLSearchParams(query)}`,
    call: {
      as: caller.credential(own),
      body: callers.body,
      headers: caller.stranger === 'named' ? { 'x-org-id': home.orgId } : {},
    },
    // On public routes, such as sign-in, a caller without a credential may see the user's own data.
    userId: caller.role === null && !route.isPublic ? null : userId,
    secrets: isLook ? exhibit.secrets : [...exhibit.secrets, ...secretsOf(home)],
  }
}

const calls = routes.flatMap((route) =>
  CALLERS.map((caller) => [`${route.name} by ${caller.what}`, route, caller] as const),
)

describe('permissions', () => {
  test.each(calls)('are enforced for %s', async (_name, route, caller) => {
    const { path, call, userId, secrets } = await callOf(route, caller)
    const answer = await world.call(route.method, path, call)
    const otherwise = OTHERWISE[route.id]
    const usual = refusalOf(route, caller)
    const applies = otherwise && (otherwise.when?.(caller) ?? true)
    const refusal = applies && (usual === null || (usual === 404 && otherwise.isFirst)) ? otherwise.status : usual
    const got = refusal === null && answer.status < 300 ? null : answer.status
    expect([got, got === refusal ? '' : answer.body]).toEqual([refusal, ''])
    checkAnswer(route, answer)
    const text = JSON.stringify(answer.body)
    // Resources of another organization are not found, regardless of the caller's role there.
    const knower = caller.stranger ? { ...caller, role: null } : caller
    expect(leaked(text, knower, userId, secrets)).toEqual([])
  })
})

test('the planted secrets are visible to permitted callers', async () => {
  const { home, ids, secrets } = exhibit
  const looks = routes.filter(({ method }) => method === 'GET')
  for (const { what, role, readOnly, stranger, credential } of CALLERS) {
    if (role === null || stranger) continue
    const as = credential(home)
    const answers = await Promise.all(looks.map((route) => world.call('GET', pathOf(route, ids), { as })))
    const shown = JSON.stringify(answers.map(({ body }) => body))
    const due = secrets.filter(
      ({ from, fullKey }) => from !== null && ROLES.indexOf(role) >= ROLES.indexOf(from) && !(readOnly && fullKey),
    )
    expect([what, due.filter(({ value }) => !shown.includes(value)).map((one) => one.what)]).toEqual([what, []])
  }
})

describe('the OpenAPI document', () => {
  test('names the permission that is enforced for every route', () => {
    const described = routes.map(({ name, permission }) => `${name}: ${permission}`)
    const held = world.app.routes.map(({ method, path, access }) => `${method} ${path}: ${access}`)
    expect(described.sort()).toEqual(held.sort())
  })

  test('requires a credential for exactly those routes for which the matrix requires one', () => {
    const free = (one: boolean) => (one ? 'free' : 'not')
    for (const route of routes) {
      expect([route.name, free(route.isPublic)]).toEqual([route.name, free(permissionOf(route).from === null)])
    }
  })

  test('an unknown permission or kind of resource causes an error', async () => {
    const [route] = routes as [Route]
    for (const permission of [undefined, 'none', 'constructor']) {
      expect(() => permissionOf({ ...route, permission })).toThrow('no such permission')
    }
    const other = { ...route, path: '/v1/gadgets/{id}' }
    expect(acceptedCall(other, { world, tenant: exhibit.home }, tenant())).rejects.toThrow('create gadgets')
  })

  test('every listed exception belongs to an existing route', () => {
    const ids = new Set(routes.map(({ id }) => id))
    expect(Object.keys(OTHERWISE).filter((id) => !ids.has(id))).toEqual([])
  })
})

describe('rules in addition to the permission matrix', () => {
  const roles = [
    ['an admin', 'admin', 403],
    ['an owner', 'owner', 200],
  ] as const

  test.each(roles)('%s can change and invite owners only with the owner role', async (_name, role, status) => {
    const { people } = tenant()
    const as = people[role].key
    const change = (id: string, body: object) => world.call('PATCH', `/v1/org/members/${id}`, { as, body })
    expect((await change(people.member.userId, { role: 'owner' })).status).toBe(status)
    // The previous call created a second owner.
    expect((await change(people.owner.userId, { role: 'viewer' })).status).toBe(status)
    const invited = await world.call('POST', '/v1/org/members', {
      as: tenant().people[role].key,
      body: { email: newAddress(), role: 'owner' },
    })
    expect(invited.status).toBe(status === 200 ? 201 : 403)
  })

  test.each(roles)('%s can remove an owner only with the owner role', async (_name, role, status) => {
    const home = tenant()
    const owner = home.people.owner
    if (role === 'owner') {
      const body = { role: 'owner' }
      await world.call('PATCH', `/v1/org/members/${home.people.admin.userId}`, { as: owner.key, body })
    }
    const path = `/v1/org/members/${role === 'owner' ? home.people.admin.userId : owner.userId}`
    expect((await world.call('DELETE', path, { as: home.people[role].key })).status).toBe(status)
  })

  test("only admins can list and revoke other users' keys", async () => {
    const { people } = tenant()
    for (const [role, status] of [
      ['viewer', 404],
      ['member', 404],
      ['admin', 200],
    ] as const) {
      const as = people[role].session
      const listed = (await world.call('GET', '/v1/keys', { as })).body.keys.map(({ id }: { id: string }) => id)
      expect([role, listed.includes(people.owner.keyId)]).toEqual([role, role === 'admin'])
      expect((await world.call('DELETE', `/v1/keys/${people.owner.keyId}`, { as })).status).toBe(status)
    }
    expect((await world.call('GET', '/v1/whoami', { as: people.owner.key })).status).toBe(401)
  })

  test('secrets of keys and integrations are only shown at creation', async () => {
    const home = tenant()
    const maker = { world, tenant: home }
    const key = await make(maker, '/v1/keys', { name: 'a', expiresInDays: 30 })
    const hook = await make(maker, '/v1/integrations', {
      provider: 'webhook',
      config: { url: 'https://hooks.example.com/b' },
    })
    expect([key.secret, hook.secret]).toEqual([expect.stringMatching(/^ak_/), expect.stringMatching(/^whsec_/)])
    const looks = routes.filter(
      (route) => route.method === 'GET' && nounsOf(route).every((noun) => noun === 'integrations'),
    )
    for (const route of looks) {
      const { body } = await world.call('GET', pathOf(route, { integrations: hook.id }), { as: home.people.owner.key })
      const text = JSON.stringify(body)
      for (const secret of [key.secret, hook.secret])
        expect([route.name, text.includes(secret)]).toEqual([route.name, false])
    }
  })
})
