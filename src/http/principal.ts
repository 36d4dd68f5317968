/** Lowest first. A role has all permissions of the roles before it. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** The authenticated user of a request, in one organization. */
export interface Principal {
  via: 'key' | 'session'
  userId: string
  orgId: string
  /** The user's current role in `orgId`; an API key never exceeds it. */
  role: Role
  /** True for read-only keys and for keys of viewers, which can't write anything, including the user's own data. */
  readOnly: boolean
  /** The API key; null for a session. */
  keyId: string | null
  /** Identifies the session; null for an API key. Must not appear in responses, logs or the audit log. */
  sessionId: string | null
}

/** True when `role` is `needed` or higher. */
export function atLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}
