import { describe, expect, test } from 'bun:test'
import type { JWTPayload } from 'jose'
import { HOUR_MS } from '../core/clock.ts'
import { createKey } from './api-key-store.ts'
import { findMember, invite } from './member-store.ts'
import { ADDRESS, countOf, principalOf, refusalOf, roleIn, START, setUp, signInAs, zoe } from './oidc-flow.fixture.ts'
import { openSession } from './session.ts'
import { addMember, createUser } from './store.ts'

describe('a user who signs in through the company', () => {
  test('gets a session, and becomes a new member of the organization', async () => {
    await using all = await setUp()
    const { token, expiresAt, user, orgs } = await signInAs(all, zoe)
    expect(expiresAt).toBe(all.clock.now() + 12 * HOUR_MS)
    expect(user).toEqual({ id: expect.stringMatching(/^usr_/), email: 'zoe@example.com', name: 'Zoe' })
    expect(orgs).toEqual([{ id: all.cast.orgId, name: 'Acme', role: 'viewer' }])
    expect(principalOf(all, token)).toMatchObject({ via: 'session', userId: user.id, role: 'viewer' })
    expect(all.db.prepare('SELECT via FROM session').all()).toEqual([{ via: 'oidc' }])
    expect(all.warnings).toEqual([])
    expect(all.browser.jar.size).toBe(0)
  })

  test('is the same user at the next sign-in, even with a different name or e-mail address', async () => {
    await using all = await setUp()
    const first = await signInAs(all, zoe)
    const again = await signInAs(all, { ...zoe, email: 'zoe.new@example.com', email_verified: false, name: 'Z' })
    expect(again.user).toEqual(first.user)
    const { email: _, ...nameless } = zoe
    expect((await signInAs(all, nameless)).user).toEqual(first.user)
    expect(countOf(all, 'identity')).toBe(1)
  })

  test('is matched to an existing user if the company has verified the e-mail address', async () => {
    await using all = await setUp()
    const { bob } = all.cast
    const { user } = await signInAs(all, { ...zoe, email: 'BOB@example.com', groups: ['Web Analytics/Editors'] })
    expect(user).toEqual({ id: bob.userId, email: bob.email, name: 'Bob' })
    expect(roleIn(all, bob.userId)).toBe('member')
  })

  test('is given the account that another organization created, and its password, keys and sessions are removed', async () => {
    await using all = await setUp()
    const { db, clock, cast } = all
    const planted = createUser(db, clock, { email: zoe.email, passwordHash: 'a password that Mallory knows' })
    addMember(db, clock, { orgId: cast.mallory.orgId, userId: planted.id, role: 'viewer' })
    const key = createKey(db, clock, {
      userId: planted.id,
      orgId: cast.mallory.orgId,
      name: 'planted',
      expiresInDays: null,
    })
    const session = openSession(db, clock, planted.id, 'invite')
    expect((await signInAs(all, zoe)).user.id).toBe(planted.id)
    expect(db.prepare('SELECT passwordHash FROM user WHERE id = ?').pluck().get(planted.id)).toBeNull()
    for (const credential of [key.secret, session.token]) {
      expect(() => principalOf(all, credential)).toThrow('unknown, expired or revoked credential')
    }
    const again = openSession(db, clock, planted.id, 'oidc')
    await signInAs(all, zoe)
    expect(principalOf(all, again.token, cast.orgId)).toMatchObject({ userId: planted.id, role: 'viewer' })
  })

  test('accepts a pending invitation by signing in, and gets a name', async () => {
    await using all = await setUp()
    const { db, clock, cast } = all
    const { member } = invite(db, clock, { orgId: cast.orgId, email: zoe.email, role: 'admin' })
    const { user } = await signInAs(all, zoe)
    expect(user).toEqual({ id: member.id, email: zoe.email, name: 'Zoe' })
    expect(findMember(db, { orgId: cast.orgId, id: member.id })).toMatchObject({ role: 'viewer', status: 'active' })
    expect(db.prepare('SELECT 1 FROM member WHERE inviteHash IS NOT NULL').all()).toEqual([])
    expect(all.entries.map(({ act }) => act)).toEqual(['acceptInvitation', 'signIn'])
  })

  test('joins the only organization when none is configured', async () => {
    await using all = await setUp({ settings: { orgId: null } })
    expect((await all.get(START)).status).toBe(409)
    all.db.prepare('DELETE FROM org WHERE id = ?').run(all.cast.mallory.orgId)
    expect((await signInAs(all, zoe)).orgs).toEqual([{ id: all.cast.orgId, name: 'Acme', role: 'viewer' }])
  })

  test("can't join an organization that does not exist", async () => {
    await using all = await setUp({ settings: { orgId: 'org_gone' } })
    expect((await all.get(START)).status).toBe(409)
    expect(all.provider.requests).toEqual([])
  })
})

describe('roles from groups', () => {
  test.each<[unknown, string]>([
    [['staff'], 'viewer'],
    ['staff', 'viewer'],
    [['Web Analytics/Editors'], 'member'],
    [['staff', 'admins', 'Web Analytics/Editors'], 'admin'],
    [['board', 'unknown', 7, null], 'owner'],
  ])('%j gives the role %s', async (groups, role) => {
    await using all = await setUp()
    const { user } = await signInAs(all, { ...zoe, groups })
    expect<string>(roleIn(all, user.id)).toBe(role)
  })

  test.each<[unknown]>([
    [[]],
    [['Staff']],
    [['staff ']],
    [['unknown']],
    [[7]],
    [{ staff: true }],
    [undefined],
    [null],
    [true],
  ])('%j gives no access', async (groups) => {
    await using all = await setUp()
    all.behaviour.claims = { ...zoe, groups }
    expect(await refusalOf(all)).toBe('you are not in a group at Acme ID that is allowed to sign in')
    expect(countOf(all, 'identity')).toBe(0)
    expect(all.db.prepare('SELECT 1 FROM user WHERE email = ?').all(zoe.email)).toEqual([])
  })

  test('the role is updated at every sign-in, up or down, with an entry in the audit log', async () => {
    await using all = await setUp()
    const { id } = (await signInAs(all, zoe)).user
    for (const [group, role] of [
      ['board', 'owner'],
      ['admins', 'admin'],
      ['admins', 'admin'],
      ['staff', 'viewer'],
    ] as const) {
      await signInAs(all, { ...zoe, groups: [group] })
      expect(roleIn(all, id)).toBe(role)
    }
    const about = { orgId: all.cast.orgId, userId: id, target: id, address: ADDRESS, act: 'changeMemberRole' }
    expect(all.entries.filter(({ act }) => act !== 'signIn')).toEqual([
      { ...about, note: { via: 'oidc', before: null, role: 'viewer' } },
      { ...about, note: { via: 'oidc', before: 'viewer', role: 'owner' } },
      { ...about, note: { via: 'oidc', before: 'owner', role: 'admin' } },
      { ...about, note: { via: 'oidc', before: 'admin', role: 'viewer' } },
    ])
    const signIns = all.entries.filter(({ act }) => act === 'signIn')
    expect(signIns).toHaveLength(5)
    expect(signIns[0]).toMatchObject({ orgId: all.cast.orgId, userId: id, address: ADDRESS, note: { via: 'oidc' } })
  })

  test('the last owner is not demoted', async () => {
    await using all = await setUp()
    const { db, clock, cast } = all
    const alice = { sub: 'u-alice', email: cast.alice.email, email_verified: true }
    await signInAs(all, { ...alice, groups: ['staff'] })
    expect(roleIn(all, cast.alice.userId)).toBe('owner')
    // An invited owner is not counted as an owner.
    invite(db, clock, { orgId: cast.orgId, email: 'later@example.com', role: 'owner' })
    await signInAs(all, { ...alice, groups: ['staff'] })
    expect(roleIn(all, cast.alice.userId)).toBe('owner')
    await signInAs(all, { ...zoe, groups: ['board'] })
    await signInAs(all, { ...alice, groups: ['staff'] })
    expect(roleIn(all, cast.alice.userId)).toBe('viewer')
  })

  test('a user whose groups no longer have a role loses all sessions and the membership', async () => {
    await using all = await setUp()
    const { db, cast } = all
    const { token, user } = await signInAs(all, zoe)
    all.behaviour.claims = { ...zoe, groups: [] }
    expect(await refusalOf(all)).toBe('you are not in a group at Acme ID that is allowed to sign in')
    expect(() => principalOf(all, token)).toThrow('unknown, expired or revoked credential')
    expect(() => roleIn(all, user.id)).toThrow('no such member')
    expect(all.entries.slice(2)).toEqual([
      expect.objectContaining({ act: 'removeMember', orgId: cast.orgId, target: user.id, address: ADDRESS }),
      expect.objectContaining({ act: 'signInFailed', orgId: cast.orgId, target: user.id, address: ADDRESS }),
    ])
    // The membership has already been removed.
    expect(await refusalOf(all)).toBe('you are not in a group at Acme ID that is allowed to sign in')
    expect((await signInAs(all, zoe)).user).toEqual(user)
    expect(db.prepare('SELECT count(*) AS n FROM member WHERE orgId = ?').get(cast.orgId)).toEqual({ n: 5 })
  })

  test('the last owner is not removed, but loses all sessions', async () => {
    await using all = await setUp()
    const alice = { sub: 'u-alice', email: all.cast.alice.email, email_verified: true }
    const { token } = await signInAs(all, { ...alice, groups: ['board'] })
    all.behaviour.claims = alice
    expect(await refusalOf(all)).toContain('you are not in a group')
    expect(() => principalOf(all, token)).toThrow('unknown, expired or revoked credential')
    expect(roleIn(all, all.cast.alice.userId)).toBe('owner')
  })

  test('nothing changes for users who have never signed in through the company', async () => {
    await using all = await setUp()
    const { db, clock, cast } = all
    const session = openSession(db, clock, cast.bob.userId, 'password')
    all.behaviour.claims = { sub: 'u-bob', email: cast.bob.email, email_verified: true, groups: [] }
    expect(await refusalOf(all)).toContain('you are not in a group')
    expect(principalOf(all, session.token).role).toBe('member')
  })

  test('nothing changes if the userinfo request for the groups fails', async () => {
    await using all = await setUp()
    const { token } = await signInAs(all, zoe)
    const { groups: _, ...groupless } = zoe
    all.behaviour.claims = groupless
    all.behaviour.instead = (path) => (path === '/userinfo' ? new Response('busy', { status: 503 }) : null)
    expect(await refusalOf(all)).toContain('cannot be trusted')
    expect(principalOf(all, token).role).toBe('viewer')
  })
})

describe('an e-mail address', () => {
  test.each<[string, JWTPayload, string]>([
    ['missing', { email: undefined }, 'the company did not provide your e-mail address'],
    ['empty', { email: ' ' }, 'the company did not provide your e-mail address'],
    ['not a string', { email: 7 }, 'the company did not provide your e-mail address'],
    [
      'not valid because of a NUL character',
      { email: 'a\0@example.com' },
      'the company did not provide your e-mail address',
    ],
    ['not an address', { email: 'zoe' }, 'email: is not an e-mail address'],
    ['used by another user, and not verified', { email: 'bob@example.com', email_verified: false }, 'does not confirm'],
    [
      'used by another user in another letter case, and not verified',
      { email: 'Bob@Example.com', email_verified: undefined },
      'does not confirm',
    ],
    [
      'used by another user, and verified by a string',
      { email: 'bob@example.com', email_verified: 'true' },
      'does not confirm',
    ],
  ])('that is %s is rejected', async (_, claims, message) => {
    await using all = await setUp()
    const users = countOf(all, 'user')
    all.behaviour.claims = { ...zoe, ...claims }
    expect(await refusalOf(all)).toContain(message)
    expect([countOf(all, 'user'), countOf(all, 'identity'), countOf(all, 'session')]).toEqual([users, 0, 0])
  })

  test('that is unknown creates a new user, whether it is verified or not', async () => {
    await using all = await setUp()
    expect((await signInAs(all, { ...zoe, email_verified: false })).user.email).toBe(zoe.email)
  })

  test('of a user linked to one company account is rejected for a second account', async () => {
    await using all = await setUp()
    await signInAs(all, { ...zoe, email_verified: false })
    all.behaviour.claims = { ...zoe, sub: 'u-second' }
    expect(await refusalOf(all)).toBe('another account of the company already signs in with this e-mail address')
  })
})
