import { pagePath } from '../contract/page-paths.ts'
import type { Role } from '../contract/roles.ts'
import { AppError } from '../core/error.ts'
import { Closed, Type } from '../core/schema.ts'
import type { Origin } from '../http/client-info.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { may, requirePermission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, publicRoute, type Route, route } from '../http/route.ts'
import { type MailDocument, NO_EXTRAS } from '../mail/mail-document.ts'
import { tx } from '../store/database.ts'
import type { SendMail } from '../transport/send-mail-directly.ts'
import { writeAuditEntry } from './audit-log.ts'
import {
  type Acceptance,
  AcceptanceSchema,
  type Invitation,
  InvitationSchema,
  JoinSchema,
  MemberInputSchema,
  MemberPatchSchema,
  type MemberRecord,
  MemberSchema,
} from './member.ts'
import {
  accept,
  changeRole,
  findInvited,
  findMember,
  findMemberByEmail,
  type Invited,
  invite,
  listMembers,
  removeMember,
} from './member-store.ts'
import { checkName, MembershipSchema } from './org.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { checkSecondFactor } from './second-factor.ts'
import { endEarlierAccess, openSession, type SignedInAnew, SignedInAnewSchema, signedIn } from './session.ts'
import { auditEverywhere, type PasswordSignInDeps, withSecondFactor } from './sign-in.ts'
import { requireOrg } from './store.ts'

const tag = 'Members'
const MemberList = Closed({ members: Type.Array(MemberSchema), nextCursor: NextCursorSchema }, { $id: 'MemberList' })

export interface MemberRouteDeps extends PasswordSignInDeps {
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  /** Null when no mail server is configured. */
  mail: SendMail | null
}

/**
 * Throws `forbidden` when one of the roles is owner and the caller is not an owner. Only owners may grant or change the
 * owner role.
 */
function requireRight(principal: Principal, ...roles: (Role | undefined)[]): void {
  if (roles.includes('owner')) requirePermission(principal, 'govern')
}

/** Returns the routes for members and invitations under `/v1/org/members`, and for accepting an invitation. */
export function memberRoutes(parts: MemberRouteDeps): Route[] {
  const { db, clock } = parts
  return [
    listRoute(parts),
    inviteRoute(parts),
    route({
      id: 'changeMemberRole',
      method: 'PATCH',
      path: '/v1/org/members/{id}',
      access: 'administer',
      tag,
      summary: 'Change the role of a member, effective from the next request',
      description: 'Only owners can grant or revoke the owner role. The last owner must remain an owner.',
      refusals: ['conflict'],
      params: ById,
      body: MemberPatchSchema,
      answer: MemberSchema,
      handle({ principal, params: { id }, body: { role } }) {
        const member = { orgId: principal.orgId, id }
        requireRight(principal, role, findMember(db, member).role)
        return changeRole(db, member, role)
      },
      note: ({ body: { role } }) => ({ role }),
    }),
    route({
      id: 'removeMember',
      method: 'DELETE',
      path: '/v1/org/members/{id}',
      access: 'administer',
      tag,
      summary: 'Remove a member or withdraw an invitation, effective from the next request',
      description:
        'Only owners can remove owners, and the last owner cannot be removed. Users who no longer belong to any organization ' +
        'are signed out, and their API keys are revoked.',
      refusals: ['conflict'],
      params: ById,
      answer: OkSchema,
      handle({ principal, params: { id } }) {
        const member = { orgId: principal.orgId, id }
        requireRight(principal, findMember(db, member).role)
        removeMember(db, clock, member)
        return OK
      },
    }),
    acceptRoute(parts),
    joinRoute(parts),
  ]
}

function listRoute({ db }: MemberRouteDeps): Route {
  return route({
    id: 'listMembers',
    method: 'GET',
    path: '/v1/org/members',
    access: 'read',
    tag,
    summary: 'List members and invited users',
    description: 'E-mail addresses and second factors are null for callers below admin.',
    query: Closed(pagingFields),
    answer: MemberList,
    exports: 'members',
    handle({ principal, query }) {
      const { items, nextCursor } = listMembers(db, principal.orgId, query)
      const describe = (member: MemberRecord) =>
        may(principal, 'seeSettings') ? member : { ...member, email: null, secondFactor: null }
      return { members: items.map(describe), nextCursor }
    },
  })
}

function inviteRoute({ db, clock, publicUrl, mail }: MemberRouteDeps): Route {
  return route({
    id: 'inviteMember',
    method: 'POST',
    path: '/v1/org/members',
    access: 'administer',
    tag,
    summary: 'Invite a user; the token is shown only once and is valid for 7 days',
    description:
      'For an existing invitation, the role and token are replaced. If a mail server is configured, the invitation is also ' +
      'sent by e-mail. Only owners can invite owners.',
    refusals: ['conflict'],
    body: MemberInputSchema,
    status: 201,
    answer: InvitationSchema,
    handle({ principal, body: { email, role } }) {
      const { orgId } = principal
      requireRight(principal, role, findMemberByEmail(db, orgId, email)?.role)
      const { member, token } = invite(db, clock, { orgId, email, role })
      return { member, inviteToken: token, inviteUrl: publicUrl + pagePath.invite(token) }
    },
    note: ({ body: { email, role } }) => ({ email, role }),
    target: ({ member }) => member.id,
    after: ({ principal: { orgId } }, invitation) => {
      const document = invitationMail(invitation, requireOrg(db, orgId).name)
      if (invitation.member.email !== null) mail?.(invitation.member.email, document)
    },
  })
}

function invitationMail({ inviteUrl, member }: Invitation, orgName: string): MailDocument {
  // The organization's name is user input in an e-mail to another person, so line breaks and control characters are
  // removed.
  const name = orgName.replaceAll(/[\s\p{C}]+/gu, ' ').trim()
  return {
    ...NO_EXTRAS,
    subject: `Tagwarden: you are invited to ${name}`,
    headline: `You are invited to join the organization "${name}" in Tagwarden with the role ${member.role}.`,
    sections: [{ title: '', blocks: [{ kind: 'text', text: 'To accept, open this link within 7 days:' }] }],
    button: { text: 'Accept invitation', url: inviteUrl },
    notes: ['If you were not expecting this invitation, you can ignore this e-mail.'],
  }
}

function acceptRoute(parts: MemberRouteDeps): Route {
  return publicRoute({
    id: 'acceptInvitation',
    method: 'POST',
    path: '/v1/auth/invite',
    tag: 'Sign-in',
    summary: 'Accept an invitation and sign in',
    description:
      'A user without a password sets one; a user with a password must enter it. A user with a second factor also sends ' +
      '`code`. Users who sign in only through single sign-on ' +
      'sign in first and then call `POST /v1/orgs/join` instead. Setting a password ends all earlier ' +
      'sessions of the user and revokes all existing API keys.',
    refusals: ['unauthorized', 'conflict', 'rateLimited', 'unavailable'],
    body: AcceptanceSchema,
    asynchronous: true,
    status: 201,
    answer: SignedInAnewSchema,
    handle: ({ body, origin }) => acceptInvitation(parts, body, origin),
  })
}

function joinRoute({ db, clock, limits }: MemberRouteDeps): Route {
  return route({
    id: 'joinOrganization',
    method: 'POST',
    path: '/v1/orgs/join',
    access: 'own',
    anyOrg: true,
    tag: 'Organization',
    summary: 'Accept an invitation as the signed-in user',
    refusals: ['rateLimited'],
    body: JoinSchema,
    status: 201,
    answer: MembershipSchema,
    handle({ principal: { userId, keyId }, body: { token }, origin }) {
      limits.byAddress(origin)
      const invited = findInvited(db, token, clock.now())
      if (invited?.userId !== userId) throw notInForce()
      const { orgId, passwordHash } = invited
      accept(db, clock, { token, invited, passwordHash, name: null })
      const { address } = origin
      writeAuditEntry(db, clock, { orgId, act: 'acceptInvitation', userId, keyId, address, target: userId })
      return { id: orgId, name: requireOrg(db, orgId).name, role: findMember(db, { orgId, id: userId }).role }
    },
  })
}

const notInForce = () => new AppError('unauthorized', 'token: the invitation is unknown, used or expired')
const wrongPassword = () => new AppError('unauthorized', 'password: is wrong')

async function acceptInvitation(
  parts: MemberRouteDeps,
  { token, password, name: text, code }: Acceptance,
  origin: Origin,
): Promise<SignedInAnew> {
  const { db, clock, limits, audit } = parts
  const name = text === undefined ? null : checkName(text, 'name')
  limits.byAddress(origin)
  const invited = findInvited(db, token, clock.now())
  if (!invited) throw notInForce()
  const { orgId, userId } = invited
  const entry = { userId, address: origin.address }
  // The admin who sent the invitation knows the token and could use it to guess passwords.
  limits.byAccount(invited.email, origin)
  const passwordHash = await provenPassword(invited, { password, name })
  if (passwordHash === null) {
    tx(db, () =>
      auditEverywhere({ db, audit }, userId, { ...entry, act: 'signInFailed', userId: null, target: userId }),
    )
    throw wrongPassword()
  }
  return withSecondFactor(parts, { id: userId }, origin, () => {
    checkSecondFactor(parts, userId, code, origin)
    if (!accept(db, clock, { token, invited, passwordHash, name })) throw notInForce()
    audit({ ...entry, orgId, act: 'acceptInvitation', target: userId })
    auditEverywhere({ db, audit }, userId, { ...entry, act: 'signIn' }, orgId)
    // Only setting a first password proves that the user owns the e-mail address.
    const isProof = invited.passwordHash === null
    const ended = isProof ? endEarlierAccess(db, clock, userId) : { ok: true, revokedKeys: 0, endedSessions: 0 }
    return { ...signedIn(db, openSession(db, clock, userId, 'invite', { origin }), userId), ...ended }
  })
}

/**
 * Returns the password hash to store; null when the password is wrong. Throws `conflict` when the user signs in without
 * a password.
 */
async function provenPassword(
  { passwordHash, established, email }: Invited,
  { password, name = null }: { password: string; name?: string | null },
): Promise<string | null> {
  if (passwordHash !== null) return (await verifyPassword(password, passwordHash)) ? passwordHash : null
  // The admin who sent the invitation knows the token and could otherwise gain the user's access to other
  // organizations.
  if (established === 1) {
    throw new AppError(
      'conflict',
      'password: this user signs in without one; sign in, then join with POST /v1/orgs/join',
    )
  }
  return hashPassword(password, { known: [email, name ?? ''] })
}
