import { describe, expect, test } from 'bun:test'
import { cast, memoryDb, ownerOf, testBox, testClock } from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import { secretBox, secretHash } from '../core/secret-box.ts'
import { createKey, listKeys, revokeKey } from './api-key-store.ts'
import {
  addMember,
  createOrg,
  createOwner,
  createUser,
  deleteOrg,
  findOrg,
  findUser,
  initialize,
  listMemberships,
  openWebhookSecret,
  recoverOrg,
} from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  return { db, clock, cast: cast(db, clock) }
}

const firstPage = { limit: 50 }

describe('organizations', () => {
  test('a created organization has its own webhook secret and salt', () => {
    const { db, clock } = setUp()
    const [one, two] = [
      createOrg(db, testBox, clock, { name: ' One ' }),
      createOrg(db, testBox, clock, { name: 'Two' }),
    ]
    expect(findOrg(db, one.id)).toEqual({
      id: expect.stringMatching(/^org_/),
      name: 'One',
      customerSalt: expect.stringMatching(/^[\w-]{43}$/),
      createdAt: clock.now(),
    })
    expect(two.customerSalt).not.toBe(one.customerSalt)
    const secret = openWebhookSecret(db, testBox, one.id)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(openWebhookSecret(db, testBox, two.id)).not.toBe(secret)
  })

  test("the webhook secret is stored encrypted, and can't be decrypted with another key", () => {
    const { db, cast } = setUp()
    const other = secretBox(Buffer.alloc(32, 8))
    expect(() => openWebhookSecret(db, other, cast.orgId)).toThrow()
    const { webhookSecret } = db.prepare('SELECT webhookSecret FROM org').get() as { webhookSecret: Buffer }
    expect(webhookSecret.includes('whsec_')).toBe(false)
  })

  test.each(['', '  ', '\t\n'])('the name %j is rejected', (name) => {
    const { db, clock } = setUp()
    expect(() => createOrg(db, testBox, clock, { name })).toThrow('orgName: must not be blank')
  })

  test('a name has at most 200 characters', () => {
    const { db, clock } = setUp()
    expect(createOrg(db, testBox, clock, { name: 'n'.repeat(200) }).name).toHaveLength(200)
    expect(() => createOrg(db, testBox, clock, { name: 'n'.repeat(201) })).toThrow('orgName: is longer than 200')
  })

  test('an unknown organization is returned as null, and its secret is not found', () => {
    const { db } = setUp()
    expect(findOrg(db, 'org_none')).toBeNull()
    expect(() => openWebhookSecret(db, testBox, 'org_none')).toThrow('no such organization')
  })

  test('the memberships of a user are listed page by page', () => {
    const { db, clock, cast } = setUp()
    clock.advance(1)
    const second = createOrg(db, testBox, clock, { name: 'Second' })
    addMember(db, clock, { orgId: second.id, userId: cast.bob.userId, role: 'viewer' })
    const acme = { id: cast.orgId, name: 'Acme', role: 'member' as const }
    const bob = { userId: cast.bob.userId }
    const both = listMemberships(db, bob, firstPage).items
    expect(both).toEqual([acme, { id: second.id, name: 'Second', role: 'viewer' }])
    const { items, nextCursor } = listMemberships(db, bob, { limit: 1 })
    expect(items).toEqual(both.slice(0, 1))
    expect(listMemberships(db, bob, { cursor: nextCursor ?? '', limit: 1 })).toEqual({
      items: both.slice(1),
      nextCursor: null,
    })
    expect(listMemberships(db, { userId: cast.vera.userId }, firstPage).items).toEqual([{ ...acme, role: 'viewer' }])
  })
})

describe('users', () => {
  test('e-mail addresses are unique, ignoring case', () => {
    const { db, clock } = setUp()
    expect(() => createUser(db, clock, { email: 'ALICE@example.com' })).toThrow(
      'email: a user with this address already exists',
    )
  })

  test('an owner is created as a user and a member, or not at all', () => {
    const { db, clock, cast } = setUp()
    const owner = createOwner(db, clock, { orgId: cast.orgId, email: 'olga@example.com', name: 'Olga' })
    expect(findUser(db, owner.id)).toEqual({ id: owner.id, email: 'olga@example.com', name: 'Olga' })
    expect(listMemberships(db, { userId: owner.id }, firstPage).items).toEqual([
      { id: cast.orgId, name: 'Acme', role: 'owner' },
    ])
    expect(() => createOwner(db, clock, { orgId: 'org_none', email: 'oleg@example.com' })).toThrow()
    expect(db.prepare(`SELECT * FROM user WHERE email = 'oleg@example.com'`).get()).toBeUndefined()
  })

  test('an unknown user is returned as null', () => {
    expect(findUser(memoryDb(), 'usr_none')).toBeNull()
  })
})

describe('keys', () => {
  test('are stored with only the SHA-256 hash and the last four characters of their secret', () => {
    const { db, clock, cast } = setUp()
    const { secret, id } = createKey(db, clock, { ...ownerOf(cast.bob), name: ' CI ', expiresInDays: 30 })
    const row = db.prepare('SELECT * FROM apiKey WHERE id = ?').get(id)
    expect(row).toMatchObject({ name: 'CI', secretHash: secretHash(secret), secretTail: secret.slice(-4) })
    expect(JSON.stringify(row)).not.toContain(secret)
  })

  test.each([
    [7, 7 * DAY_MS],
    [365, 365 * DAY_MS],
  ])('expire %i days after creation', (expiresInDays, ms) => {
    const { db, clock, cast } = setUp()
    const { expiresAt, createdAt } = createKey(db, clock, { ...ownerOf(cast.bob), name: 'CI', expiresInDays })
    expect(createdAt).toBe(clock.now())
    expect(expiresAt).toBe(clock.now() + ms)
  })

  test('are listed newest first, by user or by organization, without revoked keys', () => {
    const { db, clock, cast } = setUp()
    clock.advance(1)
    const own = createKey(db, clock, { ...ownerOf(cast.bob), name: 'newer', expiresInDays: null, readOnly: true })
    const mine = listKeys(db, ownerOf(cast.bob), firstPage).items
    expect(mine).toEqual([
      {
        id: own.id,
        userId: cast.bob.userId,
        name: 'newer',
        readOnly: true,
        scopes: ['read'],
        secretTail: own.secret.slice(-4),
        createdAt: clock.now(),
        expiresAt: null,
        lastUsedAt: null,
      },
      expect.objectContaining({ id: cast.bob.keyId, readOnly: false }),
    ])
    const all = listKeys(db, { orgId: cast.orgId }, firstPage).items
    expect(all.map(({ name }) => name).sort()).toEqual(
      ['newer', 'read-only', 'expired', "Alice's key", "Ada's key", "Bob's key", "Vera's key"].sort(),
    )
    const { nextCursor } = listKeys(db, { orgId: cast.orgId }, { limit: 3 })
    expect(listKeys(db, { orgId: cast.orgId }, { cursor: nextCursor ?? '', limit: 2 }).items).toEqual(all.slice(3, 5))
  })

  test('are revoked once, and only by users with permission', () => {
    const { db, clock, cast } = setUp()
    const { bob, alice, mallory } = cast
    expect(() => revokeKey(db, clock, ownerOf(bob), alice.keyId)).toThrow('no such key')
    expect(() => revokeKey(db, clock, { orgId: mallory.orgId }, bob.keyId)).toThrow('no such key')
    revokeKey(db, clock, { orgId: cast.orgId }, bob.keyId)
    expect(() => revokeKey(db, clock, ownerOf(bob), bob.keyId)).toThrow('no such key')
    expect(listKeys(db, ownerOf(bob), firstPage).items).toEqual([])
  })
})

describe('recreated organizations', () => {
  test('belong to the first owner, and the oldest one gets the specified name', async () => {
    const [db, clock] = [memoryDb(), testClock()]
    for (const [id, createdAt] of [['org_b', 2] as const, ['org_a', 5] as const]) {
      expect(recoverOrg(db, testBox, { id, createdAt })).toBe(true)
      expect(recoverOrg(db, testBox, { id, createdAt })).toBe(false)
    }
    const { orgId, userId } = await initialize(db, testBox, clock, {
      orgName: 'Acme',
      email: 'ann@example.com',
      password: null,
    })
    expect(orgId).toBe('org_b')
    expect(listMemberships(db, { userId }, firstPage).items).toEqual([
      { id: 'org_a', name: 'Recovered organization org_a', role: 'owner' },
      { id: 'org_b', name: 'Acme', role: 'owner' },
    ])
    expect(openWebhookSecret(db, testBox, 'org_a')).toStartWith('whsec_')
  })

  test('do not include deleted organizations', () => {
    const { db, clock, cast } = setUp()
    deleteOrg(db, clock, cast.orgId)
    expect(recoverOrg(db, testBox, { id: cast.orgId, createdAt: 1 })).toBe(false)
    expect(findOrg(db, cast.orgId)).toBeNull()
  })
})

describe('initialize', () => {
  const initial = { orgName: 'Acme', email: 'alice@example.com', password: 'correct horse' }

  test('creates an organization, its owner with a password, and an API key with full access', async () => {
    const db = memoryDb()
    const { orgId, userId, apiKey } = await initialize(db, testBox, testClock(), initial)
    expect(apiKey).toMatch(/^ak_/)
    expect(listMemberships(db, { userId }, firstPage).items).toEqual([{ id: orgId, name: 'Acme', role: 'owner' }])
    expect(listKeys(db, { orgId, userId }, firstPage).items).toMatchObject([{ readOnly: false, expiresAt: null }])
    const { passwordHash } = db.prepare('SELECT passwordHash FROM user').get() as { passwordHash: string }
    expect(await Bun.password.verify('correct horse', passwordHash)).toBe(true)
  })

  test('rejects a second owner, even for concurrent calls', async () => {
    const db = memoryDb()
    const clock = testClock()
    const outcomes = await Promise.allSettled([
      initialize(db, testBox, clock, initial),
      initialize(db, testBox, clock, { ...initial, email: 'bob@example.com' }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(initialize(db, testBox, clock, { ...initial, password: null })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(db.prepare('SELECT count(*) AS n FROM org').get()).toEqual({ n: 1 })
  })

  test.each([
    [{ orgName: ' ' }, 'orgName: must not be blank'],
    [{ email: 'alice' }, 'email: is not an e-mail address'],
    [{ password: 'short' }, 'password: must have at least 10 characters'],
  ])('creates nothing if %j is invalid', async (change, message) => {
    const db = memoryDb()
    await expect(initialize(db, testBox, testClock(), { ...initial, ...change })).rejects.toThrow(message)
    for (const table of ['org', 'user', 'member', 'apiKey']) {
      expect(db.prepare(`SELECT * FROM ${table}`).all()).toEqual([])
    }
  })
})
