import { afterAll, expect, test } from 'bun:test'
import { performer } from '../../src/http/perform-call.ts'
import { PERMISSIONS, type Permission } from '../../src/http/permission.ts'
import type { Principal } from '../../src/http/principal.ts'
import { auditor } from '../../src/org/audit-log.ts'
import { stepAt, totpCode } from '../../src/org/totp.ts'
import { pathOf, type Route } from './openapi-routes.ts'
import { describedApi, PASSWORD, type TestTenant } from './two-tenants.ts'
import { acceptedCall, PLANTED } from './valid-calls.ts'

/*
 * Calls every route that writes, and demands an entry in the audit log. New routes are covered automatically.
 */

const { world, routes, tenant } = await describedApi()
afterAll(() => world[Symbol.asyncDispose]())
const { db } = world.app

/** Public routes that write, with the act that they record; null with the reason why they record none. */
const PUBLIC: Record<string, { act: string | null; why?: string }> = {
  setUp: { act: null, why: 'an owner already exists; tested in first-setup.test.ts' },
  signIn: { act: 'signIn' },
  forgotPassword: { act: null, why: 'no mail server is configured; tested in password-reset.test.ts' },
  resetPassword: { act: 'resetPassword' },
  redeemSignIn: { act: null, why: 'no company sign-in is configured; tested in oidc-routes.test.ts' },
  acceptInvitation: { act: 'acceptInvitation' },
  receiveFromIssueTracker: { act: null, why: 'changes only issues, whose history names the ticket' },
  receiveFromOfficeChat: { act: null, why: 'changes only issues, whose history names the chat' },
  unsubscribe: { act: null, why: 'needs a link from a digest; tested in the digest room' },
}

/** Routes whose action is recorded under another name. */
const RECORDED_AS: Record<string, string> = { joinOrganization: 'acceptInvitation' }

/** Routes that can't succeed here. Their entry is written for the example response. */
const SIMULATED: Record<string, string> = {
  deployTags: 'no tag manager is connected',
  chooseOfficeChatChannel: 'the bot is not installed in any team',
  chooseTeamChatChannel: 'Slack is not reachable',
  runFlowTest: 'Chromium is not installed',
  createAudit: 'Chromium is not installed',
  cancelRun: 'the run has ended',
  cancelAudit: 'the audit has ended',
  createBackup: 'the server has several organizations',
  downloadBackup: 'the server has several organizations',
  addCollector: 'the server has several organizations',
  removeCollector: 'the server has several organizations',
  resumeSending: 'the server has several organizations',
}

const writing = routes.filter(({ permission, method, isPublic }) =>
  isPublic ? method !== 'GET' : PERMISSIONS[permission as Permission].writes,
)

const QUERIES: Record<string, (home: TestTenant) => Record<string, string>> = {
  deleteOrganization: ({ name }) => ({ name }),
}

const entriesOf = (orgId: string, act: string) =>
  db.prepare('SELECT userId, keyId, target, note FROM auditEntry WHERE orgId = ? AND act = ?').all(orgId, act) as {
    userId: string
    note: string
  }[]

const call = (route: Route, home: TestTenant, { path, body }: { path: string; body: object | undefined }) => {
  const { key, session } = home.people.owner
  // Routes for sessions refuse keys.
  const as = route.path.startsWith('/v1/auth/') ? session : key
  return world.call(route.method, path, { as: route.isPublic ? null : as, ...(body ? { body } : {}) })
}

async function perform(route: Route, home: TestTenant): Promise<number> {
  const accepted = await acceptedCall(route, { world, tenant: home }, tenant())
  const query = new URLSearchParams(QUERIES[route.id]?.(home) ?? {})
  const others: Record<string, string> = {}
  let { body } = accepted
  if (route.id === 'deleteIssueComment') {
    const comment = await world.call('POST', `/v1/issues/${accepted.ids.issues}/comments`, {
      as: home.people.owner.key,
      body: { body: 'A comment' },
    })
    others.commentId = comment.body.comments[0].id
  }
  if (route.id === 'confirmSecondFactor' || route.id === 'replaceRecoveryCodes') {
    const as = home.people.owner.session
    const begun = await world.call('POST', '/v1/auth/totp', { as })
    body = { code: totpCode(begun.body.secret, stepAt(world.clock.now())) }
    if (route.id === 'replaceRecoveryCodes') await world.call('PUT', '/v1/auth/totp', { as, body })
  }
  if (route.id === 'changePassword') body = { currentPassword: PASSWORD, newPassword: 'another horse, another staple' }
  return (await call(route, home, { path: `${pathOf(route, accepted.ids, others)}?${query}`, body })).status
}

/** Performs the route with a handler that returns the example response. */
async function simulate(route: Route, home: TestTenant): Promise<void> {
  const real = world.app.routes.find(({ id }) => id === route.id)
  if (!real) throw new Error(`no such route: ${route.id}`)
  const { userId, keyId } = home.people.owner
  const principal: Principal = {
    via: 'key',
    userId,
    orgId: home.orgId,
    role: 'owner',
    readOnly: false,
    keyId,
    sessionId: null,
  }
  const [answer = { ok: true }] = (real.answer.examples ?? []) as unknown[]
  const { ids, body } = await acceptedCall(route, { world, tenant: home }, tenant())
  const params = route.path.includes('{id}') ? { id: Object.values(ids)[0] } : {}
  await performer({ db, audit: auditor(db, world.clock) })(
    { ...real, handle: () => answer, after: () => undefined },
    {
      principal,
      params,
      query: {},
      body,
      origin: { address: null, userAgent: null },
      signal: new AbortController().signal,
    },
  )
}

test.each(writing.map((route) => [route.name, route] as const))('%s is recorded', async (_name, route) => {
  const home = tenant()
  const open = PUBLIC[route.id]
  expect([route.id, open !== undefined]).toEqual([route.id, route.isPublic])
  const act = open ? open.act : (RECORDED_AS[route.id] ?? route.id)
  if (act === null) return
  if (route.id in SIMULATED) await simulate(route, home)
  else expect(await perform(route, home)).toBeLessThan(300)
  // A deleted organization has no audit log, and an invitation is recorded by the inviting organization.
  if (route.id === 'deleteOrganization') return
  const all = db.prepare('SELECT count(*) FROM auditEntry WHERE act = ?').pluck().get(act)
  const own = entriesOf(home.orgId, act)
  if (route.id === 'joinOrganization') expect(all).toBeGreaterThan(0)
  else expect([route.id, own.length > 0]).toEqual([route.id, true])
})

test('entries contain neither secrets nor channel targets', () => {
  const notes = db.prepare('SELECT group_concat(note) FROM auditEntry').pluck().get() as string
  expect(notes.length).toBeGreaterThan(1000)
  const { mail, hook, slack, config, secret } = PLANTED
  for (const text of [
    PASSWORD,
    'another horse',
    'hooks.example',
    'xoxb-',
    'its-secret',
    mail,
    hook,
    slack,
    config,
    secret,
  ]) {
    expect([text, notes.includes(text)]).toEqual([text, false])
  }
  expect(notes).not.toMatch(/\b(?:ak|st|pt|in|rs|whsec)_[\w-]{20}/)
})

test('entries say what was changed and to what', async () => {
  const home = tenant()
  const as = home.people.admin.key
  const send = (method: string, path: string, body: object) => world.call(method, path, { as, body })
  const { id } = (await send('POST', '/v1/domains', { name: 'Shop' })).body
  await send('PUT', `/v1/domains/${id}/hostnames/shop.example`, { status: 'denied' })
  await send('PUT', `/v1/domains/${id}/page-view-sampling`, { prodRate: 0.5 })
  await send('PATCH', '/v1/org', { timezone: 'Europe/Berlin' })
  const { entries } = (await world.call('GET', '/v1/audit-log', { as })).body
  const shown = entries.map(({ act, target, targetName, note }: Record<string, unknown>) => ({
    act,
    target,
    targetName,
    note,
  }))
  expect(shown).toEqual([
    expect.objectContaining({ act: 'updateOrganization', note: { timezone: 'Europe/Berlin' } }),
    expect.objectContaining({
      act: 'setPageViewSampling',
      target: id,
      targetName: 'Shop',
      note: expect.objectContaining({ prodRate: 0.5 }),
    }),
    expect.objectContaining({ act: 'judgeHostname', target: id, note: { hostname: 'shop.example', status: 'denied' } }),
    expect.objectContaining({ act: 'createDomain', target: id, targetName: 'Shop' }),
  ])
})

test('data that a shop sends regularly is recorded once per hour and key', async () => {
  const home = tenant()
  const { key, session } = home.people.owner
  const { id: domainId } = (await world.call('POST', '/v1/domains', { as: key, body: { name: 'Shop' } })).body
  const route = routes.find(({ id }) => id === 'postOrders')
  const body = { ...(route?.example as object), domainId }
  const send = async (as: string) =>
    expect((await world.call('POST', '/v1/orders', { as, body })).status).toBeLessThan(300)
  for (let n = 0; n < 3; n++) await send(key)
  expect(entriesOf(home.orgId, 'postOrders')).toHaveLength(1)
  await send(session)
  expect(entriesOf(home.orgId, 'postOrders')).toHaveLength(2)
  world.clock.advance(3_600_001)
  await send(key)
  expect(entriesOf(home.orgId, 'postOrders')).toHaveLength(3)
})
