import { ROLES, type Role } from '../http/principal.ts'

/** What the members of a group at the company are here. */
export interface GroupRole {
  group: string
  role: Role
}

/** Somebody as the company's provider knows them. */
export interface CompanyUser {
  issuer: string
  /** Unique at the issuer, and never given to anybody else. */
  subject: string
  /** Null when the provider does not tell it. */
  email: string | null
  /** True only when the provider says that the address is theirs. */
  emailVerified: boolean
  name: string | null
  groups: readonly string[]
}

export type Claims = Readonly<Record<string, unknown>>

const NAME_LENGTH_MAX = 200
/** https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
const SUBJECT_LENGTH_MAX = 255

/** Null for what is no text that can be stored and compared. */
function textOf(value: unknown, lengthMax: number): string | null {
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) return null
  const trimmed = value.trim()
  return trimmed !== '' && trimmed.length <= lengthMax ? trimmed : null
}

/** Null where the claim is absent. One group may come without a list around it. */
function groupsOf(value: unknown): string[] | null {
  if (value === undefined || value === null) return null
  const list = Array.isArray(value) ? value : [value]
  return list.filter((group) => typeof group === 'string')
}

/**
 * Somebody out of a verified ID token and, for what is not in it, out of userinfo. An address and whether it is verified
 * come from one and the same of them. Fails when the issuer or the subject is no usable text.
 */
export function userOf(idToken: Claims, userinfo: Claims, groupsClaim: string): CompanyUser {
  const { iss, sub } = idToken
  if (typeof iss !== 'string' || typeof sub !== 'string' || textOf(sub, SUBJECT_LENGTH_MAX) !== sub) {
    throw new Error('the issuer or the subject is no usable text')
  }
  const addressed = idToken.email === undefined ? userinfo : idToken
  const email = textOf(addressed.email, Number.POSITIVE_INFINITY)
  return {
    issuer: iss,
    subject: sub,
    email,
    emailVerified: email !== null && addressed.email_verified === true,
    name: textOf(idToken.name, NAME_LENGTH_MAX) ?? textOf(userinfo.name, NAME_LENGTH_MAX),
    groups: groupsOf(idToken[groupsClaim]) ?? groupsOf(userinfo[groupsClaim]) ?? [],
  }
}

/** The highest role that one of the groups has; null when none has one. Groups are compared to the letter. */
export function roleOf(groups: readonly string[], roles: readonly GroupRole[]): Role | null {
  const held = roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role)
  return ROLES.findLast((role) => held.includes(role)) ?? null
}
