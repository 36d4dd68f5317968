import { MAX_NAME_LENGTH } from '../contract/limits.ts'
import { ROLES, type Role } from '../contract/roles.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import type { GroupRole } from '../setting-values.ts'

/** A user as described by the identity provider. */
export interface CompanyUser {
  issuer: string
  /** Unique within the issuer, and never reassigned. */
  subject: string
  /** Null when the provider does not send it. */
  email: string | null
  /** True only when the provider has verified the address. */
  emailVerified: boolean
  name: string | null
  groups: readonly string[]
}

/** A user whose groups may be unknown (null). */
export type UserOfClaims = Omit<CompanyUser, 'groups'> & { groups: readonly string[] | null }

export type Claims = Readonly<Record<string, unknown>>

/** Maximum length of the subject: https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
const SUBJECT_LENGTH_MAX = 255

/** Returns the claim if it is a string that can be stored and compared; null otherwise. */
function textOf(value: unknown, lengthMax: number): string | null {
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) return null
  const trimmed = value.trim()
  return trimmed !== '' && trimmed.length <= lengthMax ? trimmed : null
}

/** Returns the groups; null without the claim. A single group may be a string instead of a list. */
function groupsOf(value: unknown): string[] | null {
  if (value === undefined || value === null) return null
  const list = Array.isArray(value) ? value : [value]
  return list.filter((group) => typeof group === 'string')
}

/** Returns the value if it is an object; null otherwise. */
export function objectOf(value: unknown): Record<string, unknown> | null {
  return isJsonObject(value) ? value : null
}

/**
 * True when the claims say that the user has groups but do not list them: by a distributed claim
 * (https://openid.net/specs/openid-connect-core-1_0.html#AggregatedDistributedClaims) or by Entra ID's `hasgroups`.
 */
function omitsGroups(claims: Claims, groupsClaim: string): boolean {
  const names = objectOf(claims._claim_names)
  if (names && Object.hasOwn(names, groupsClaim) && names[groupsClaim] !== null) return true
  const listed = claims[groupsClaim]
  const sources = objectOf(claims._claim_sources)
  if (typeof listed === 'string' && sources && Object.hasOwn(sources, listed)) return true
  const { hasgroups } = claims
  return groupsClaim === 'groups' && (hasgroups === true || hasgroups === 'true') && !groupsOf(listed)?.length
}

/**
 * Returns the groups from the first source that lists them. Null when the groups are unknown; an empty list when the
 * user has none.
 */
function knownGroups(sources: readonly Claims[], groupsClaim: string): string[] | null {
  const complete = sources.filter((claims) => !omitsGroups(claims, groupsClaim))
  const groups = complete.map((claims) => groupsOf(claims[groupsClaim])).find((list) => list !== null) ?? []
  return groups.length === 0 && complete.length < sources.length ? null : groups
}

/**
 * Returns the user from the claims of a verified ID token, supplemented by the claims from userinfo. `email` and
 * `emailVerified` always come from the same source. `groups` is null when the user has groups that neither source
 * lists. Throws when the issuer or the subject is not a usable string.
 */
export function userOf(idToken: Claims, userinfo: Claims, groupsClaim: string): UserOfClaims {
  const { iss, sub } = idToken
  if (typeof iss !== 'string' || typeof sub !== 'string' || textOf(sub, SUBJECT_LENGTH_MAX) !== sub) {
    throw new Error('the issuer or the subject is not a usable string')
  }
  const addressed = idToken.email === undefined ? userinfo : idToken
  const email = textOf(addressed.email, Number.POSITIVE_INFINITY)
  return {
    issuer: iss,
    subject: sub,
    email,
    emailVerified: email !== null && addressed.email_verified === true,
    name: textOf(idToken.name, MAX_NAME_LENGTH) ?? textOf(userinfo.name, MAX_NAME_LENGTH),
    groups: knownGroups([idToken, userinfo], groupsClaim),
  }
}

/** Returns the highest role given by the groups; null when no group has a role. Group names are case-sensitive. */
export function roleOf(groups: readonly string[], roles: readonly GroupRole[]): Role | null {
  const held = roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role)
  return ROLES.findLast((role) => held.includes(role)) ?? null
}
