import { atLeast, type Role } from '../contract/roles.ts'
import { AppError } from '../core/error.ts'
import type { Principal } from './principal.ts'

interface PermissionRow {
  /** The lowest role with this permission. Null for public routes, which require no credential. */
  from: Role | null
  /**
   * True for permissions to change data. Read-only keys never have them, and each use is recorded in the organization's
   * audit log.
   */
  writes: boolean
  /** True for permissions to read secrets. Only keys with the scope `all` have them. */
  secret?: boolean
  meaning: string
}

/** All permissions. Every route has one as its `access`. `docs/api/roles.md` is generated from this table. */
export const PERMISSIONS = {
  public: { from: null, writes: false, meaning: 'No credential required' },
  read: {
    from: 'viewer',
    writes: false,
    meaning:
      "Read everything except secrets, property tokens, channel targets, members' e-mail addresses and personal data in " +
      'events',
  },
  own: { from: 'viewer', writes: true, meaning: 'Change your own name, password, API keys, digest and saved views' },
  edit: {
    from: 'member',
    writes: true,
    meaning:
      'Manage alerts, issues, signals, labels, changes, hostnames, orders, maintenance windows, calendars, flow tests and ' +
      'audits',
  },
  seeTokens: {
    from: 'member',
    writes: false,
    secret: true,
    meaning: 'View property tokens and channel targets',
  },
  seePersonal: {
    from: 'member',
    writes: false,
    meaning: 'View personal data in events, which is masked for other roles, and screenshots and HARs of flow tests',
  },
  configure: {
    from: 'admin',
    writes: true,
    meaning: 'Create, change and delete domains and integrations',
  },
  seeSettings: {
    from: 'admin',
    writes: false,
    meaning: "View members' e-mail addresses, integration settings, the webhook secret and the audit log",
  },
  administer: {
    from: 'admin',
    writes: true,
    meaning: "Manage members, all members' API keys, projects and organization settings",
  },
  seeBackups: {
    from: 'owner',
    writes: false,
    secret: true,
    meaning: 'View the backups, collectors and waiting deletions of a server with one organization',
  },
  operate: {
    from: 'owner',
    writes: true,
    meaning:
      'Make and download backups of a server with one organization, manage its collectors, and let a restored server send ' +
      'notifications',
  },
  govern: {
    from: 'owner',
    writes: true,
    meaning: 'Grant and revoke the owner role, create further organizations, and delete this one',
  },
} as const satisfies Record<string, PermissionRow>

export type Permission = keyof typeof PERMISSIONS

/** True when read-only keys never have the permission, regardless of role. */
export function needsFullKey(permission: Permission): boolean {
  const { writes, secret = false }: PermissionRow = PERMISSIONS[permission]
  return writes || secret
}

/** True when the credential may read secrets, as far as the role allows: a session, or a key with the scope `all`. */
export function isFullCredential({ readOnly, scopes }: Principal): boolean {
  return !readOnly && scopes === undefined
}

/** True when the caller's role has the permission, and the credential is not too limited for it. */
export function may(principal: Principal, permission: Permission): boolean {
  const { from, writes, secret = false }: PermissionRow = PERMISSIONS[permission]
  if (from === null) return true
  if ((writes && principal.readOnly) || (secret && !isFullCredential(principal))) return false
  return atLeast(principal.role, from)
}

/** Throws `forbidden` when the caller does not have the permission. The message names the missing role or right. */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (may(principal, permission)) return
  if (needsFullKey(permission) && principal.readOnly) throw new AppError('forbidden', 'this key is read-only')
  const { secret = false }: PermissionRow = PERMISSIONS[permission]
  if (secret && principal.scopes) throw new AppError('forbidden', 'this requires a key with the scope "all"')
  throw new AppError('forbidden', `this requires the role ${PERMISSIONS[permission].from}; yours is ${principal.role}`)
}
