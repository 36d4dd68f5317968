/** From least to most. A role may do all that the ones before it may. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Who a request acts as, in one organization. */
export interface Principal {
  via: 'key' | 'session'
  userId: string
  orgId: string
  /** The user's present role in `orgId`; a key never stands above it. */
  role: Role
  /** True for keys made so and for keys of viewers: they can only read, even what is their own. */
  readOnly: boolean
  /** The API key; null for a session. */
  keyId: string | null
  /** Tells the session from others; null for an API key. Not for answers, logs or the audit log. */
  sessionId: string | null
}

/** True when `role` may do what `needed` may. */
export function atLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}
