import { ROLES, type Role } from '../http/principal.ts'

/** The role of the members of a company's group. */
export interface GroupRole {
  group: string
  role: Role
}

/** A user as the company's provider describes them. */
export interface CompanyUser {
  issuer: string
  /** Unique at the issuer, and never reassigned. */
  subject: string
  /** Null when the provider does not send it. */
  email: string | null
  /** True only when the provider has verified the address. */
  emailVerified: boolean
  name: string | null
  groups: readonly string[]
}

export type Claims = Readonly<Record<string, unknown>>

const NAME_LENGTH_MAX = 200
/** https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
const SUBJECT_LENGTH_MAX = 255

/** Returns the claim as a text; null when it is no text that can be stored and compared. */
function textOf(value: unknown, lengthMax: number): string | null {
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) return null
  const trimmed = value.trim()
  return trimmed !== '' && trimmed.length <= lengthMax ? trimmed : null
}

/** Returns the groups; null when the claim is absent. A single group may be a text instead of a list. */
function groupsOf(value: unknown): string[] | null {
  if (value === undefined || value === null) return null
  const list = Array.isArray(value) ? value : [value]
  return list.filter((group) => typeof group === 'string')
}

/**
 * Returns the user by the claims of a verified ID token, and of userinfo for those it lacks. `email` and
 * `emailVerified` always come from the same source. Fails when the issuer or the subject is no usable text.
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

/** Returns the highest role of the groups; null when none has one. Group names are case-sensitive. */
export function roleOf(groups: readonly string[], roles: readonly GroupRole[]): Role | null {
  const held = roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role)
  return ROLES.findLast((role) => held.includes(role)) ?? null
}
