/** Lowest first. A role has all permissions of the ones before it. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** The authenticated user of a request, in one organization. */
export interface Principal {
  via: 'key' | 'session'
  userId: string
  orgId: string
  /** The user's current role in `orgId`; an API key never has a higher one. */
  role: Role
  /** True for keys made read-only and for keys of viewers: they can write nothing, not even their own data. */
  readOnly: boolean
  /** The API key; null for a session. */
  keyId: string | null
  /** Identifies the session; null for an API key. Not for answers, logs or the audit log. */
  sessionId: string | null
}

/** True when `role` is `needed` or higher. */
export function atLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}
