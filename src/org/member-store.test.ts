import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { ROLES, type Role } from '../contract/roles.ts'
import { AppError } from '../core/error.ts'
import { createKey, revokeKey } from './api-key-store.ts'
import { INVITATION_MS } from './member.ts'
import { accept, changeRole, findInvited, findMember, invite, listMembers, removeMember } from './member-store.ts'
import { openSession } from './session.ts'
import { createOrg, createOwner, findUser, listMemberships } from './store.ts'

const firstPage = { limit: 200 }

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const { id: orgId } = createOrg(db, testBox, clock, { name: 'Acme' })
  const owner = createOwner(db, clock, { orgId, email: 'olga@example.com', name: 'Olga' })
  const join = (token: string, passwordHash = 'hash') => {
    const invited = findInvited(db, token, clock.now())
    return invited !== null && accept(db, clock, { token, invited, passwordHash, name: null })
  }
  const count = (table: 'session' | 'user') =>
    (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
  return { db, clock, orgId, owner, join, count }
}

/** Returns the error code of a rejected action; null when the action succeeds. */
function refusal(act: () => unknown): string | null {
  try {
    act()
    return null
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

const OWNER = 'olga@example.com'
const email = fc.constantFrom(OWNER, 'ann@example.com', 'ben@example.com', 'cleo@example.com')
const role = fc.constantFrom(...ROLES)
const act = fc.oneof(
  fc.record({ kind: fc.constant('invite' as const), email, role }),
  fc.record({ kind: fc.constant('accept' as const), email }),
  fc.record({ kind: fc.constant('change' as const), email, role }),
  fc.record({ kind: fc.constant('remove' as const), email }),
)

type Model = Map<string, { role: Role; status: 'active' | 'invited' }>

const activeOwners = (model: Model) => [...model].filter(([, it]) => it.role === 'owner' && it.status === 'active')

/** Returns the expected error code. When the change must succeed, updates the model and returns null. */
function expected(model: Model, step: { kind: string; email: string; role?: Role }): string | null {
  const { kind, email, role = 'viewer' } = step
  const present = model.get(email)
  const isLastOwner = activeOwners(model).length === 1 && present?.role === 'owner' && present.status === 'active'
  if (kind === 'invite') {
    if (present?.status === 'active') return 'conflict'
    model.set(email, { role, status: 'invited' })
    return null
  }
  if (kind === 'accept') {
    if (present?.status === 'invited') model.set(email, { ...present, status: 'active' })
    return null
  }
  if (!present) return 'notFound'
  if (isLastOwner && (kind === 'remove' || role !== 'owner')) return 'conflict'
  if (kind === 'remove') model.delete(email)
  else model.set(email, { ...present, role })
  return null
}

test('after any sequence of changes, members match a simple model, and at least one owner remains', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (steps) => {
      const { db, clock, orgId, join } = setUp()
      const model: Model = new Map([[OWNER, { role: 'owner', status: 'active' }]])
      const tokens = new Map<string, string>()
      for (const step of steps) {
        const { email } = step
        const { id = 'usr_none' } =
          listMembers(db, orgId, firstPage).items.find((member) => member.email === email) ?? {}
        const got = refusal(() => {
          if (step.kind === 'invite') tokens.set(email, invite(db, clock, { orgId, email, role: step.role }).token)
          else if (step.kind === 'accept') join(tokens.get(email) ?? 'in_none')
          else if (step.kind === 'change') changeRole(db, { orgId, id }, step.role)
          else removeMember(db, clock, { orgId, id })
        })
        expect(got).toBe(expected(model, step))
        const members = listMembers(db, orgId, firstPage).items
        expect(new Map(members.map(({ email, role, status }) => [email, { role, status }]))).toEqual(model)
        expect(members.some((it) => it.role === 'owner' && it.status === 'active')).toBe(true)
        for (const { id, status } of members) {
          expect(listMemberships(db, { userId: id }, firstPage).items).toHaveLength(status === 'active' ? 1 : 0)
        }
      }
    }),
    { numRuns: 150 },
  )
})

describe('invitations', () => {
  const invitation = { email: 'ann@example.com', role: 'member' } as const

  test('are stored with only the SHA-256 hash of their token', () => {
    const { db, clock, orgId } = setUp()
    const { token } = invite(db, clock, { orgId, ...invitation })
    expect(token).toMatch(/^in_[\w-]{43}$/)
    expect(JSON.stringify(db.prepare('SELECT * FROM member').all())).not.toContain(token)
    const { inviteHash } = db.prepare('SELECT inviteHash FROM member WHERE inviteHash IS NOT NULL').get() as {
      inviteHash: Buffer
    }
    expect(inviteHash).toHaveLength(32)
  })

  test.each([
    [INVITATION_MS - 1, true],
    [INVITATION_MS, false],
  ])('can be accepted after %i ms: %p', (ms, works) => {
    const { db, clock, orgId, join } = setUp()
    const { token, member } = invite(db, clock, { orgId, ...invitation })
    clock.advance(ms)
    expect(join(token)).toBe(works)
    expect(findMember(db, { orgId, id: member.id }).status).toBe(works ? 'active' : 'invited')
  })

  test('sent again replace the token, role and expiry of the first invitation', () => {
    const { db, clock, orgId, join } = setUp()
    const first = invite(db, clock, { orgId, ...invitation })
    clock.advance(INVITATION_MS - 1)
    const second = invite(db, clock, { orgId, email: ' ANN@example.com ', role: 'admin' })
    expect(second.member).toEqual({ ...first.member, role: 'admin' })
    expect(join(first.token)).toBe(false)
    clock.advance(INVITATION_MS - 1)
    expect(join(second.token)).toBe(true)
    expect(join(second.token)).toBe(false)
  })

  test('do not replace a password that was set in the meantime', () => {
    const { db, clock, orgId } = setUp()
    const { token, member } = invite(db, clock, { orgId, ...invitation })
    const invited = findInvited(db, token, clock.now())
    if (!invited) throw new Error('there is no invitation')
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run('other', member.id)
    expect(accept(db, clock, { token, invited, passwordHash: 'mine', name: 'Ann' })).toBe(false)
    expect(findMember(db, { orgId, id: member.id }).status).toBe('invited')
    expect(db.prepare('SELECT passwordHash, name FROM user WHERE id = ?').get(member.id)).toEqual({
      passwordHash: 'other',
      name: null,
    })
  })

  test('for a user of another organization are not visible there, and do not reveal the name of the user', () => {
    const { db, clock, orgId, owner } = setUp()
    const { id: elsewhere } = createOrg(db, testBox, clock, { name: 'Elsewhere' })
    const { member } = invite(db, clock, { orgId: elsewhere, email: OWNER, role: 'viewer' })
    expect(member).toMatchObject({ id: owner.id, name: null, status: 'invited' })
    expect(listMembers(db, orgId, firstPage).items).toMatchObject([{ id: owner.id, name: 'Olga', role: 'owner' }])
    removeMember(db, clock, { orgId: elsewhere, id: owner.id })
    expect(findUser(db, owner.id)).not.toBeNull()
  })

  test.each(['ann', '', 'ann@', 'a b@example.com'])('to the invalid e-mail address %j are rejected', (email) => {
    const { db, clock, orgId, count } = setUp()
    expect(() => invite(db, clock, { orgId, email, role: 'viewer' })).toThrow('email: is not an e-mail address')
    expect(count('user')).toBe(1)
  })
})

describe('removal', () => {
  test('ends sessions and keys only with the last membership', () => {
    const { db, clock, orgId, count, join } = setUp()
    const { id: elsewhere } = createOrg(db, testBox, clock, { name: 'Elsewhere' })
    const { token, member } = invite(db, clock, { orgId, email: 'ann@example.com', role: 'owner' })
    join(token)
    const { id } = member
    join(invite(db, clock, { orgId: elsewhere, email: 'ann@example.com', role: 'viewer' }).token)
    const key = createKey(db, clock, { userId: id, orgId: elsewhere, name: 'CI', expiresInDays: null })
    openSession(db, clock, id, 'invite')
    removeMember(db, clock, { orgId, id })
    expect(count('session')).toBe(1)
    expect(listMemberships(db, { userId: id }, firstPage).items).toMatchObject([{ id: elsewhere }])
    removeMember(db, clock, { orgId: elsewhere, id })
    expect(count('session')).toBe(0)
    expect(() => revokeKey(db, clock, { orgId: elsewhere }, key.id)).toThrow('no such key')
    expect(findUser(db, id)).not.toBeNull()
  })

  test('ends sessions despite a pending invitation to another organization', () => {
    const { db, clock, orgId, count, join } = setUp()
    const { id: elsewhere } = createOrg(db, testBox, clock, { name: 'Elsewhere' })
    const { token, member } = invite(db, clock, { orgId, email: 'ann@example.com', role: 'viewer' })
    join(token)
    invite(db, clock, { orgId: elsewhere, email: 'ann@example.com', role: 'viewer' })
    openSession(db, clock, member.id, 'invite')
    removeMember(db, clock, { orgId, id: member.id })
    expect(count('session')).toBe(0)
  })

  test('of the last pending invitation deletes a user who has never accepted an invitation', () => {
    const { db, clock, orgId, count } = setUp()
    const { id: elsewhere } = createOrg(db, testBox, clock, { name: 'Elsewhere' })
    const [one, two] = [orgId, elsewhere].map(
      (at) => invite(db, clock, { orgId: at, email: 'ann@example.com', role: 'viewer' }).member,
    )
    expect(two?.id).toBe(one?.id ?? '')
    removeMember(db, clock, { orgId, id: one?.id ?? '' })
    expect(count('user')).toBe(2)
    removeMember(db, clock, { orgId: elsewhere, id: one?.id ?? '' })
    expect(count('user')).toBe(1)
  })
})
