import { describe, expect, test } from 'bun:test'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { performer } from '../http/perform-call.ts'
import type { Principal } from '../http/principal.ts'
import { renderMailText } from '../mail/render-mail-text.ts'
import type { SendMail } from '../transport/send-mail-directly.ts'
import { auditor, listAuditEntries, writeAuditEntry } from './audit-log.ts'
import { INVITATION_MS } from './member.ts'
import { memberRoutes } from './member-routes.ts'
import { organizationRoutes } from './org-routes.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { orgRoutes } from './routes.ts'
import { openSession } from './session.ts'
import { signInLimits } from './sign-in.ts'
import { addMember, createOrg } from './store.ts'

function setUp({ addressPerMinute = 1000, withMail = true } = {}) {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const mails: { to: string; subject: string; text: string }[] = []
  const mail: SendMail = (to, document) =>
    void mails.push({ to, subject: document.subject, text: renderMailText(document) })
  const routes = memberRoutes({
    db,
    box: testBox,
    clock,
    audit: (entry) => writeAuditEntry(db, clock, entry),
    report: () => undefined,
    limits: signInLimits(clock, addressPerMinute),
    queueSecurityMail: null,
    publicUrl: 'https://tagwarden.example',
    mail: withMail ? mail : null,
  })
  const orgParts = { db, clock, box: testBox, changed() {}, deleted() {}, checkPiiPatterns() {} }
  const audit = auditor(db, clock)
  const call = client({ db, clock, audit }, ...routes, ...orgRoutes(orgParts), ...organizationRoutes(orgParts))
  const invite = async (email: string, role = 'member', as = people.alice.key): Promise<string> =>
    (await call('POST', '/v1/org/members', { as, body: { email, role } })).body.inviteToken
  const accept = (token: string, password: string, name?: string) =>
    call('POST', '/v1/auth/invite', { body: { token, password, ...(name === undefined ? {} : { name }) } })
  const acts = (orgId = people.orgId) => listAuditEntries(db, orgId, { limit: 200 }).items
  const setPassword = async (userId: string, password: string) =>
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(await hashPassword(password), userId)
  const passwordHashOf = (email: string) =>
    (db.prepare('SELECT passwordHash FROM user WHERE email = ?').get(email) as { passwordHash: string | null })
      .passwordHash
  return { db, clock, cast: people, mails, routes, audit, call, invite, accept, acts, setPassword, passwordHashOf }
}

const PASSWORD = 'correct horse battery'

describe('permissions', () => {
  type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
  const readers = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
  const admins = { viewer: 403, readOnly: 403, member: 403, admin: 200, owner: 200, otherOrg: 404 }
  const owners = { ...admins, admin: 403 }
  const invites = { ...admins, admin: 201, owner: 201, otherOrg: 201 }
  const member = '/v1/org/members'
  const cases: [string, string, unknown, Expected][] = [
    ['GET', member, undefined, readers],
    ['POST', member, { email: 'new@example.com', role: 'admin' }, invites],
    ['POST', member, { email: 'new@example.com', role: 'owner' }, { ...invites, admin: 403 }],
    ['POST', member, { email: 'future@example.com', role: 'viewer' }, { ...invites, admin: 403 }],
    [
      'POST',
      member,
      { email: 'bob@example.com', role: 'viewer' },
      { ...admins, admin: 409, owner: 409, otherOrg: 201 },
    ],
    ['POST', member, {}, { ...admins, admin: 400, owner: 400, otherOrg: 400 }],
    ['PATCH', `${member}/{bob}`, { role: 'admin' }, admins],
    ['PATCH', `${member}/{bob}`, { role: 'owner' }, owners],
    ['PATCH', `${member}/{alice}`, { role: 'member' }, { ...owners, owner: 409 }],
    ['PATCH', `${member}/{alice}`, { role: 'owner' }, owners],
    ['PATCH', `${member}/{future}`, { role: 'viewer' }, owners],
    ['PATCH', `${member}/{mallory}`, { role: 'viewer' }, { ...admins, admin: 404, owner: 404, otherOrg: 409 }],
    ['PATCH', `${member}/usr_none`, { role: 'viewer' }, { ...admins, admin: 404, owner: 404 }],
    ['PATCH', `${member}/{bob}`, { role: 'king' }, { ...admins, admin: 400, owner: 400, otherOrg: 400 }],
    ['DELETE', `${member}/{vera}`, undefined, admins],
    ['DELETE', `${member}/{ada}`, undefined, admins],
    ['DELETE', `${member}/{alice}`, undefined, { ...owners, owner: 409 }],
    ['DELETE', `${member}/{future}`, undefined, owners],
  ]
  test.each(
    cases.flatMap(([method, path, body, expected]) =>
      CALLERS.map((caller) => {
        const status = caller in expected ? expected[caller as keyof Expected] : 401
        return [method, path, body, caller, status] as const
      }),
    ),
  )('%s %s %j as %s: %i', async (method, path, body, caller, status) => {
    const { db, call, cast, invite } = setUp()
    await invite('future@example.com', 'owner')
    const { id: future } = db.prepare(`SELECT id FROM user WHERE email LIKE 'future%'`).get() as { id: string }
    const { alice, ada, bob, vera, mallory } = cast
    const ids: Record<string, string> = { future }
    for (const [name, { userId }] of Object.entries({ alice, ada, bob, vera, mallory })) ids[name] = userId
    const dump = () => JSON.stringify(db.prepare('SELECT * FROM member ORDER BY orgId, userId').all())
    const before = dump()
    const at = path.replace(/\{(\w+)\}/, (_, name) => ids[name] ?? '')
    const answer = await call(method, at, { as: credentialsOf(cast)[caller], body })
    expect(answer.status).toBe(status)
    if (status >= 400) expect(dump()).toBe(before)
  })
})

describe('the member list', () => {
  test('shows e-mail addresses and invited users only to admins', async () => {
    const { call, cast, invite, clock } = setUp()
    await invite('new@example.com', 'viewer')
    const seen = async (as: string) => (await call('GET', '/v1/org/members', { as })).body.members
    const admins = await seen(cast.ada.key)
    expect(admins).toContainEqual({
      id: cast.bob.userId,
      email: 'bob@example.com',
      name: 'Bob',
      role: 'member',
      status: 'active',
      createdAt: clock.now(),
      secondFactor: false,
    })
    expect(admins).toContainEqual(
      expect.objectContaining({ email: 'new@example.com', name: null, role: 'viewer', status: 'invited' }),
    )
    const hidden = admins.map((member: object) => ({ ...member, email: null, secondFactor: null }))
    for (const as of [cast.bob.key, cast.vera.key]) expect(await seen(as)).toEqual(hidden)
    expect(await seen(cast.mallory.key)).toMatchObject([{ id: cast.mallory.userId }])
  })

  test('contains each member once across pages', async () => {
    const { call, cast } = setUp()
    const { members } = (await call('GET', '/v1/org/members', { as: cast.ada.key })).body
    expect(members).toHaveLength(4)
    const first = (await call('GET', '/v1/org/members?limit=3', { as: cast.ada.key })).body
    const rest = (await call('GET', `/v1/org/members?limit=3&cursor=${first.nextCursor}`, { as: cast.ada.key })).body
    expect([...first.members, ...rest.members]).toEqual(members)
    expect(rest.nextCursor).toBeNull()
  })
})

describe('an invitation', () => {
  test('creates one member, who has access only after accepting', async () => {
    const { call, cast, accept, clock, passwordHashOf, db } = setUp()
    const body = { email: 'Ann@example.com', role: 'admin' }
    const made = await call('POST', '/v1/org/members', { as: cast.ada.key, body })
    const { inviteToken: token, inviteUrl, member } = made.body
    expect(inviteUrl).toBe(`https://tagwarden.example/invite#invite=${token}`)
    expect(member).toMatchObject({ email: 'Ann@example.com', role: 'admin', status: 'invited' })
    expect((await call('GET', '/v1/whoami', { as: token })).status).toBe(401)
    expect((await accept(token, 'too short')).body.error).toStartWith('password: ')
    expect((await accept(token, PASSWORD, '  ')).body.error).toStartWith('name: ')
    expect(db.prepare('SELECT count(*) AS n FROM session').get()).toEqual({ n: 0 })

    const signedIn = await accept(token, PASSWORD, ' Ann ')
    expect(signedIn.status).toBe(201)
    expect(signedIn.body).toMatchObject({
      user: { id: member.id, email: 'Ann@example.com', name: 'Ann' },
      orgs: [{ id: cast.orgId, name: 'Acme', role: 'admin' }],
    })
    expect(signedIn.body.expiresAt).toBeGreaterThan(clock.now())
    const as = signedIn.body.token
    expect((await call('GET', '/v1/whoami', { as })).body).toMatchObject({ userId: member.id, role: 'admin' })
    expect(await verifyPassword(PASSWORD, passwordHashOf('ann@example.com'))).toBe(true)
    expect((await accept(token, PASSWORD)).status).toBe(401)
  })

  test('is rejected if it is unknown, replaced, withdrawn or expired', async () => {
    const { call, cast, invite, accept, clock, db } = setUp()
    expect((await accept('in_none', PASSWORD)).status).toBe(401)
    const replaced = await invite('ann@example.com')
    const withdrawn = await invite('ann@example.com')
    expect((await accept(replaced, PASSWORD)).status).toBe(401)
    const { id } = db.prepare(`SELECT id FROM user WHERE email LIKE 'ann%'`).get() as { id: string }
    expect((await call('DELETE', `/v1/org/members/${id}`, { as: cast.ada.key })).status).toBe(200)
    expect((await accept(withdrawn, PASSWORD)).status).toBe(401)
    const expired = await invite('ann@example.com')
    clock.advance(INVITATION_MS)
    expect((await accept(expired, PASSWORD)).status).toBe(401)
    expect(db.prepare('SELECT count(*) AS n FROM session').get()).toEqual({ n: 0 })
  })

  test('for a user with a password requires that password, and does not change it', async () => {
    const { db, call, cast, invite, accept, setPassword, passwordHashOf, acts } = setUp()
    await setPassword(cast.bob.userId, PASSWORD)
    const before = passwordHashOf('bob@example.com')
    const token = await invite('bob@example.com', 'viewer', cast.mallory.key)
    const wrong = await accept(token, 'another password')
    expect([wrong.status, wrong.body.error]).toEqual([401, 'password: is wrong'])
    expect(acts()[0]).toMatchObject({ act: 'signInFailed', userId: null, target: cast.bob.userId })
    const { status, body } = await accept(token, PASSWORD)
    expect(status).toBe(201)
    expect(body.orgs.map(({ role }: { role: string }) => role).sort()).toEqual(['member', 'viewer'])
    expect(body.user.name).toBe('Bob')
    expect(passwordHashOf('bob@example.com')).toBe(before)
    expect(acts()[0]).toMatchObject({ act: 'signIn', userId: cast.bob.userId })
    expect(acts(cast.mallory.orgId)[0]).toMatchObject({ act: 'acceptInvitation', userId: cast.bob.userId })
    const here = await call('GET', '/v1/whoami', { as: body.token, headers: { 'x-org-id': cast.mallory.orgId } })
    expect(here.body).toMatchObject({ role: 'viewer' })
    expect(JSON.stringify(db.prepare('SELECT * FROM auditEntry').all())).not.toContain(token)
  })

  test('does not set a password for an existing user without one, who must be signed in to join', async () => {
    const { db, clock, call, cast, invite, accept, passwordHashOf, acts } = setUp()
    const token = await invite('bob@example.com', 'viewer', cast.mallory.key)
    expect((await accept(token, PASSWORD)).status).toBe(409)
    expect(passwordHashOf('bob@example.com')).toBeNull()
    const join = (as: string, it = token) => call('POST', '/v1/orgs/join', { as, body: { token: it } })
    expect((await join(cast.ada.key)).status).toBe(401)
    expect((await join(cast.bob.key, 'in_none')).status).toBe(401)
    const { token: session } = openSession(db, clock, cast.bob.userId, 'password')
    const orgs = async () => (await call('GET', '/v1/orgs', { as: session })).body.orgs
    expect(await orgs()).toHaveLength(1)
    const joined = await join(cast.bob.key)
    expect(joined.status).toBe(201)
    expect(joined.body).toEqual({ id: cast.mallory.orgId, name: 'Mallory and Sons', role: 'viewer' })
    expect(await orgs()).toHaveLength(2)
    expect(acts(cast.mallory.orgId)[0]).toMatchObject({ act: 'acceptInvitation', keyId: cast.bob.keyId })
    const again = { as: cast.bob.key, body: { token }, headers: { 'x-org-id': cast.orgId } }
    expect((await call('POST', '/v1/orgs/join', again)).status).toBe(401)
  })

  test('gives no access to data before it is accepted', async () => {
    const { call, cast, invite } = setUp()
    await invite('bob@example.com', 'owner', cast.mallory.key)
    const keys = (await call('GET', '/v1/keys', { as: cast.mallory.key })).body.keys
    expect(keys.map(({ id }: { id: string }) => id)).toEqual([cast.mallory.keyId])
    expect((await call('DELETE', `/v1/keys/${cast.bob.keyId}`, { as: cast.mallory.key })).status).toBe(404)
    expect((await call('GET', '/v1/whoami', { as: cast.bob.key })).body).toMatchObject({ orgId: cast.orgId })
    const headers = { 'x-org-id': cast.mallory.orgId }
    expect((await call('GET', '/v1/whoami', { as: cast.bob.key, headers })).status).toBe(403)
    const demoted = await call('PATCH', `/v1/org/members/${cast.mallory.userId}`, {
      as: cast.mallory.key,
      body: { role: 'admin' },
    })
    expect(demoted.status).toBe(409)
  })

  test('accepted twice concurrently creates one session, with the password of the successful request', async () => {
    const { db, invite, accept, passwordHashOf } = setUp()
    const token = await invite('ann@example.com')
    const passwords = ['the first password', 'the second password']
    const answers = await Promise.all(passwords.map((password) => accept(token, password)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 401])
    const won = passwords[statuses.indexOf(201)] ?? ''
    expect(await verifyPassword(won, passwordHashOf('ann@example.com'))).toBe(true)
    expect(db.prepare('SELECT count(*) AS n FROM session').get()).toEqual({ n: 1 })
  })

  test('is rate-limited by IP address before it is looked up', async () => {
    const { call, accept } = setUp({ addressPerMinute: 3 })
    const statuses: number[] = []
    const body = { token: 'in_none', password: PASSWORD }
    for (let i = 0; i < 4; i++) {
      statuses.push((await call('POST', '/v1/auth/invite', { address: '192.0.2.1', body })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429])
    expect((await accept('in_none', PASSWORD)).status).toBe(401)
  })

  test('limits the number of wrong passwords', async () => {
    const { call, cast, setPassword, invite } = setUp({ addressPerMinute: 60 })
    const from = (address: string, token: string, password: string) =>
      call('POST', '/v1/auth/invite', { address, body: { token, password } })
    await setPassword(cast.bob.userId, PASSWORD)
    const token = await invite('bob@example.com', 'viewer', cast.mallory.key)
    for (let i = 1; i <= 10; i++) expect((await from('192.0.2.1', token, 'wrong')).status).toBe(401)
    const refused = await from('192.0.2.1', token, PASSWORD)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('the invitation e-mail', () => {
  const body = { email: 'ann@example.com', role: 'member' }

  test('is sent only after the commit, and not for a rejected call, a dry run or a rollback', async () => {
    const { db, call, cast, mails, routes, audit } = setUp()
    await call('POST', '/v1/org/members', { as: cast.ada.key, body: { ...body, email: 'bob@example.com' } })
    const inviteMember = routes.find(({ id }) => id === 'inviteMember')
    if (!inviteMember) throw new Error('there is no such route')
    const { userId, orgId, role } = cast.ada
    const principal: Principal = { via: 'session', userId, orgId, role, readOnly: false, keyId: null, sessionId: 's' }
    const origin = { address: null, userAgent: null }
    const { signal } = new AbortController()
    const one = { principal, origin, signal, params: {}, query: {}, body }
    const tried = performer({ db, audit })(inviteMember, one, { dryRun: true })
    expect(tried).toMatchObject({ member: { status: 'invited' } })
    const failing = performer({
      db,
      audit: () => {
        throw new Error('the log is broken')
      },
    })
    expect(() => failing(inviteMember, one)).toThrow('the log is broken')
    expect(mails).toEqual([])
    expect(db.prepare(`SELECT 1 FROM user WHERE email LIKE 'ann%'`).get()).toBeUndefined()

    const { inviteUrl } = (await call('POST', '/v1/org/members', { as: cast.ada.key, body })).body
    expect(mails).toEqual([
      {
        to: 'ann@example.com',
        subject: 'Tagwarden: you are invited to Acme',
        text: expect.stringContaining(inviteUrl),
      },
    ])
  })

  test('is not sent without a mail server', async () => {
    const { call, cast, mails } = setUp({ withMail: false })
    expect((await call('POST', '/v1/org/members', { as: cast.ada.key, body })).status).toBe(201)
    expect(mails).toEqual([])
  })

  test('contains the name of the organization on one line', async () => {
    const { call, cast, mails } = setUp()
    const name = 'Acme\r\nBcc: all@example.com\u202e'
    expect((await call('PATCH', '/v1/org', { as: cast.alice.key, body: { name } })).status).toBe(200)
    await call('POST', '/v1/org/members', { as: cast.ada.key, body })
    expect(mails[0]?.subject).toBe('Tagwarden: you are invited to Acme Bcc: all@example.com')
  })
})

test('role changes and removals apply from the next request', async () => {
  const { call, cast } = setUp()
  const { alice, bob } = cast
  const bobs = `/v1/org/members/${bob.userId}`
  expect((await call('PATCH', bobs, { as: alice.key, body: { role: 'owner' } })).body.role).toBe('owner')
  const aliceGoes = await call('DELETE', `/v1/org/members/${alice.userId}`, { as: bob.key })
  expect(aliceGoes.status).toBe(200)
  expect((await call('GET', '/v1/whoami', { as: alice.key })).status).toBe(401)
  expect((await call('DELETE', bobs, { as: bob.key })).status).toBe(409)
})

test('a user removed from one of two organizations retains access to the other', async () => {
  const { db, clock, call, cast } = setUp()
  const { id } = createOrg(db, testBox, clock, { name: 'Second' })
  addMember(db, clock, { orgId: id, userId: cast.bob.userId, role: 'viewer' })
  expect((await call('DELETE', `/v1/org/members/${cast.bob.userId}`, { as: cast.ada.key })).status).toBe(200)
  expect((await call('GET', '/v1/whoami', { as: cast.bob.key })).status).toBe(401)
  const { token: as } = openSession(db, clock, cast.bob.userId, 'password')
  expect((await call('GET', '/v1/whoami', { as })).body).toMatchObject({ orgId: id, role: 'viewer' })
})

test('the audit log records invitations, role changes and removals with both users, but no token', async () => {
  const { db, call, cast, invite, acts } = setUp()
  const token = await invite('ann@example.com', 'viewer', cast.ada.key)
  const find = db.prepare<[], { id: string }>(`SELECT id FROM user WHERE email = 'ann@example.com'`)
  const invitedId = find.get()?.id ?? ''
  const at = `/v1/org/members/${cast.bob.userId}`
  await call('PATCH', at, { as: cast.ada.key, body: { role: 'admin' } })
  await call('DELETE', at, { as: cast.ada.key, address: '192.0.2.7' })
  await call('DELETE', at, { as: cast.ada.key })
  expect(acts().map(({ act, target, note }) => ({ act, target, note }))).toEqual([
    { act: 'removeMember', target: cast.bob.userId, note: {} },
    { act: 'changeMemberRole', target: cast.bob.userId, note: { role: 'admin' } },
    { act: 'inviteMember', target: invitedId, note: { email: 'ann@example.com', role: 'viewer' } },
  ])
  expect(acts()[0]).toMatchObject({ userId: cast.ada.userId, keyId: cast.ada.keyId, address: '192.0.2.7' })
  expect(JSON.stringify(db.prepare('SELECT * FROM auditEntry').all())).not.toContain(token)
})
