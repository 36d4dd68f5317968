import type { Role } from '../contract/roles.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { NewAuditEntry } from './audit-log.ts'
import { INTERNAL_ORG_ID } from './internal-org.ts'
import { changeRole, findMemberOrNull, isLastOwner, type MemberKey, removeMember } from './member-store.ts'
import type { CompanyUser } from './oidc-user.ts'
import { removeSecondFactor } from './second-factor.ts'
import { endEarlierAccess, endSessionsOf } from './session.ts'
import { addMember, createUser } from './store.ts'

/** Writes an audit log entry inside the transaction of the change. */
export type NoteAct = (act: Pick<NewAuditEntry, 'orgId' | 'act' | 'target' | 'note'> & { userId: string }) => void

/**
 * Returns the organization configured by the operator, or the only one when none is configured. Throws `conflict` when
 * none is configured and there is not exactly one.
 */
export function joinedOrg(db: Db, orgId: string | null): string {
  const ids = db
    .prepare<[object], { id: string }>(
      'SELECT id FROM org WHERE id <> @internal AND (@orgId IS NULL OR id = @orgId) LIMIT 2',
    )
    .all({ orgId, internal: INTERNAL_ORG_ID })
  const [first, second] = ids
  if (first && !second) return first.id
  throw new AppError(
    'conflict',
    'the server does not know which organization to join; its operator must set TAGWARDEN_OIDC_ORG',
  )
}

function findByIdentity(db: Db, { issuer, subject }: CompanyUser): string | null {
  const find = db.prepare<[string, string], { userId: string }>(
    'SELECT userId FROM identity WHERE issuer = ? AND subject = ?',
  )
  return find.get(issuer, subject)?.userId ?? null
}

/**
 * Links the provider's account to a new user or to the existing user with this e-mail address. Returns the user's id.
 */
function link(db: Db, clock: Clock, user: CompanyUser, orgId: string): string {
  const { issuer, subject, email, emailVerified, name } = user
  if (email === null) throw new AppError('forbidden', 'the company did not provide your e-mail address')
  const known = db.prepare<[string], { id: string }>('SELECT id FROM user WHERE email = ?').get(email)
  if (known && !emailVerified) {
    throw new AppError(
      'forbidden',
      'this e-mail address belongs to an existing user, and the company does not confirm that it is yours',
    )
  }
  // Companies reuse e-mail addresses: a new employee must not get the access of a former one.
  if (known && db.prepare('SELECT 1 FROM identity WHERE userId = ? AND issuer = ?').get(known.id, issuer)) {
    throw new AppError('forbidden', 'another account of the company already signs in with this e-mail address')
  }
  const { id } = known ?? createUser(db, clock, { email, name })
  if (known && findMemberOrNull(db, { orgId, id })?.status !== 'active') endFormerAccess(db, clock, id)
  db.prepare('INSERT INTO identity (issuer, subject, userId, createdAt) VALUES (?, ?, ?, ?)').run(
    issuer,
    subject,
    id,
    clock.now(),
  )
  return id
}

/**
 * Deletes the user's password, second factor and sessions, and revokes the user's keys. Called when the user is not a member of the
 * organization yet: another organization created the account, and the person who accepted that invitation may not own
 * the e-mail address.
 */
function endFormerAccess(db: Db, clock: Clock, userId: string): void {
  db.prepare('UPDATE user SET passwordHash = NULL WHERE id = ?').run(userId)
  removeSecondFactor(db, userId)
  endEarlierAccess(db, clock, userId)
}

/** Makes the user a member with this role, and accepts a pending invitation. The last owner remains an owner. */
function join(db: Db, clock: Clock, { orgId, id }: MemberKey, role: Role, note: NoteAct): void {
  const before = findMemberOrNull(db, { orgId, id })
  const about = { orgId, userId: id, target: id }
  if (!before) {
    addMember(db, clock, { orgId, userId: id, role })
    note({ ...about, act: 'changeMemberRole', note: { via: 'oidc', before: null, role } })
    return
  }
  if (before.status === 'invited') {
    db.prepare(
      'UPDATE member SET role = ?, inviteHash = NULL, inviteExpiresAt = NULL WHERE orgId = ? AND userId = ?',
    ).run(role, orgId, id)
    note({ ...about, act: 'acceptInvitation', note: { via: 'oidc', role } })
    return
  }
  if (before.role === role || isLastOwner(db, { orgId, id })) return
  changeRole(db, { orgId, id }, role)
  note({ ...about, act: 'changeMemberRole', note: { via: 'oidc', before: before.role, role } })
}

/**
 * Signs in a user with the role given by the user's groups, and returns the user's id. The user is the one linked to
 * this account, otherwise the one with this e-mail address if the provider has verified it, otherwise a new one. Throws
 * `forbidden` when the address is missing, unusable or belongs to another user.
 */
export function admit(
  db: Db,
  clock: Clock,
  user: CompanyUser,
  { orgId, role, note }: { orgId: string; role: Role; note: NoteAct },
): string {
  return tx(db, () => {
    const id = findByIdentity(db, user) ?? link(db, clock, user, orgId)
    db.prepare('UPDATE user SET name = @name WHERE id = @id AND name IS NULL').run({ id, name: user.name })
    join(db, clock, { orgId, id }, role, note)
    return id
  })
}

/**
 * Deletes the sessions of a user whose groups no longer give a role, and deletes the membership unless the user is the
 * last owner. Returns the user's id. Returns null without changes when this account has never signed in.
 */
export function shutOut(
  db: Db,
  clock: Clock,
  user: CompanyUser,
  { orgId, note }: { orgId: string; note: NoteAct },
): string | null {
  return tx(db, () => {
    const id = findByIdentity(db, user)
    if (id === null) return null
    endSessionsOf(db, clock, id)
    if (findMemberOrNull(db, { orgId, id }) && !isLastOwner(db, { orgId, id })) {
      note({ orgId, userId: id, target: id, act: 'removeMember', note: { via: 'oidc' } })
      removeMember(db, clock, { orgId, id })
    }
    return id
  })
}
