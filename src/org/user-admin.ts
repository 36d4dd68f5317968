import type { Role } from '../contract/roles.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import { writeAuditEntry } from './audit-log.ts'
import { INTERNAL_ORG_ID } from './internal-org.ts'
import { changeRole, findMemberOrNull } from './member-store.ts'
import { hashPassword } from './password-hash.ts'
import { endReset } from './password-reset.ts'
import { hasSecondFactorSql, removeSecondFactor } from './second-factor.ts'
import { notifyOfSecurityEvent, type SecurityMailDeps } from './security-mail.ts'
import { type Ended, endEarlierAccess } from './session.ts'
import { auditEverywhere } from './sign-in.ts'
import { addMember } from './store.ts'

/*
 * Changes that the operator of the server makes without signing in, for owners who can't sign in. Each one is recorded
 * in the audit log, without a user.
 */

/** A user with all memberships and pending invitations. */
export interface UserRecord {
  id: string
  email: string
  name: string | null
  createdAt: number
  /** False for users of single sign-on, and for users who have not accepted an invitation. */
  hasPassword: boolean
  secondFactor: boolean
  /** Number of sessions that have not expired. */
  sessions: number
  organizations: { id: string; name: string; role: Role; status: 'active' | 'invited' }[]
}

type UserRow = Omit<UserRecord, 'hasPassword' | 'secondFactor' | 'organizations'> & {
  hasPassword: number
  secondFactor: number
  organizations: string
}

/** Returns all users of the server, or the one with this e-mail address, sorted by it. */
export function listUsers(db: Db, clock: Clock, email: string | null = null): UserRecord[] {
  const rows = db
    .prepare<[object], UserRow>(
      `SELECT id, email, name, createdAt, passwordHash IS NOT NULL AS hasPassword, ${hasSecondFactorSql} AS secondFactor,
         (SELECT count(*) FROM session WHERE userId = user.id AND expiresAt > @now) AS sessions,
         (SELECT json_group_array(json_object('id', org.id, 'name', org.name, 'role', role,
            'status', iif(inviteHash IS NULL, 'active', 'invited')) ORDER BY org.id)
          FROM member JOIN org ON org.id = orgId WHERE userId = user.id) AS organizations
       FROM user WHERE @email IS NULL OR email = @email ORDER BY email, id`,
    )
    .all({ now: clock.now(), email: email?.trim() ?? null })
  return rows.map(({ hasPassword, secondFactor, organizations, ...row }) => ({
    ...row,
    hasPassword: hasPassword === 1,
    secondFactor: secondFactor === 1,
    organizations: JSON.parse(organizations),
  }))
}

function requireUser(db: Db, clock: Clock, email: string): UserRecord {
  const [user] = listUsers(db, clock, email)
  if (!user) throw new AppError('notFound', `email: there is no user with the address ${email.trim()}`)
  return user
}

/** Result of setting a password, with the access that it has ended. */
export interface PasswordSet extends Ended {
  userId: string
  /** True when a second factor was removed. */
  secondFactorRemoved: boolean
}

/**
 * Sets the password of a user. Deletes all of the user's sessions, invalidates the password reset links, and revokes all
 * API keys. The user is notified by e-mail if a second factor was removed. Throws `notFound`, and the errors of
 * `hashPassword`.
 */
export async function setPassword(
  parts: SecurityMailDeps,
  { email, password, withoutSecondFactor }: { email: string; password: string; withoutSecondFactor: boolean },
): Promise<PasswordSet> {
  const { db, clock } = parts
  const { id, name } = requireUser(db, clock, email)
  const passwordHash = await hashPassword(password, { known: [email, name ?? ''] })
  return tx(db, () => {
    db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(passwordHash, id)
    endReset(db, id)
    const ended = endEarlierAccess(db, clock, id)
    const secondFactorRemoved = withoutSecondFactor && removeSecondFactor(db, id)
    if (secondFactorRemoved) notifyOfSecurityEvent(parts, id, { kind: 'secondFactorRemoved' }, null)
    const { revokedKeys, endedSessions } = ended
    const note = { via: 'command', revokedKeys, endedSessions, secondFactorRemoved }
    const audit = (entry: Parameters<typeof writeAuditEntry>[2]) => writeAuditEntry(db, clock, entry)
    auditEverywhere({ db, audit }, id, { act: 'setUserPassword', target: id, note })
    return { ...ended, userId: id, secondFactorRemoved }
  })
}

/** Returns the organization with this id or name, the user's only one, or the server's only one. Throws `invalid`. */
function chooseOrganization(db: Db, { organizations }: UserRecord, wanted: string | null): string {
  const find = db.prepare<[string], { id: string; name: string }>('SELECT id, name FROM org WHERE id <> ? ORDER BY id')
  const all = find.all(INTERNAL_ORG_ID)
  const found =
    wanted === null
      ? [organizations, all].find(({ length }) => length === 1)
      : all.filter(({ id, name }) => id === wanted || name === wanted)
  const [first, second] = found ?? []
  if (first && !second) return first.id
  const choices = all.map(({ id, name }) => `${id} (${name})`).join(', ')
  throw new AppError('invalid', `org: specify the id of one of the organizations ${choices}`)
}

export interface RoleSet {
  ok: true
  userId: string
  orgId: string
  role: Role
  /** Null when the user was not a member. */
  before: Role | null
}

/**
 * Gives a user a role in an organization: changes that of a member, accepts a pending invitation, or adds a member.
 * Throws `notFound` for an unknown user, `invalid` when the organization is not clear, and `conflict` when no owner would
 * be left.
 *
 * @param org id or name of the organization; null for the only one
 */
export function setRole(
  db: Db,
  clock: Clock,
  { email, role, org }: { email: string; role: Role; org: string | null },
): RoleSet {
  return tx(db, () => {
    const user = requireUser(db, clock, email)
    const member = { orgId: chooseOrganization(db, user, org), id: user.id }
    const before = findMemberOrNull(db, member)
    if (before) {
      changeRole(db, member, role)
      db.prepare('UPDATE member SET inviteHash = NULL, inviteExpiresAt = NULL WHERE orgId = ? AND userId = ?').run(
        member.orgId,
        member.id,
      )
    } else {
      addMember(db, clock, { orgId: member.orgId, userId: member.id, role })
    }
    const was = before?.status === 'active' ? before.role : null
    const note = { via: 'command', before: was, role }
    writeAuditEntry(db, clock, { orgId: member.orgId, act: 'changeMemberRole', target: user.id, note })
    return { ok: true, userId: user.id, orgId: member.orgId, role, before: was }
  })
}
