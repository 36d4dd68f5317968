/**
 * Permissions of an API key. `read` reads, `all` does everything that its user may do, and each other scope changes one
 * kind of object. A key never exceeds the role of its user.
 */
export const KEY_SCOPES = ['read', 'alerts', 'issues', 'domains', 'integrations', 'runs', 'collector', 'all'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]
