/** Ordered from lowest to highest. A role has all permissions of the roles before it. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** The authenticated user of a request, in one organization. */
export interface Principal {
  via: 'key' | 'session'
  userId: string
  orgId: string
  /** The user's current role in `orgId`. An API key never has a higher role. */
  role: Role
  /** True for read-only keys and for keys of viewers. Such keys can't write anything, not even the user's own data. */
  readOnly: boolean
  /** Id of the API key; null for a session. */
  keyId: string | null
  /** Id of the session; null for an API key. Must not appear in responses, logs or the audit log. */
  sessionId: string | null
}

/** True when `role` is `needed` or higher. */
export function atLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}
