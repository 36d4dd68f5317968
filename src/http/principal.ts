import type { KeyScope } from '../contract/key-scopes.ts'
import type { Role } from '../contract/roles.ts'

/** The authenticated user of a request, in one organization. */
export interface Principal {
  via: 'key' | 'session'
  userId: string
  orgId: string
  /** The user's current role in `orgId`. An API key never has a higher role. */
  role: Role
  /** True for read-only keys and for keys of viewers. Such keys can't write anything, not even the user's own data. */
  readOnly: boolean
  /** Scopes of an API key; absent for a session and for a key with the scope `all`. */
  scopes?: readonly KeyScope[]
  /** Id of the API key; null for a session. */
  keyId: string | null
  /** Id of the session; null for an API key. Must not appear in responses, logs or the audit log. */
  sessionId: string | null
}
