import { atLeast, type Role } from '../contract/roles.ts'
import { AppError } from '../core/error.ts'
import type { Principal } from './principal.ts'

interface PermissionRow {
  /** The lowest role with this permission. Null for public routes, which require no credential. */
  from: Role | null
  /** True for permissions to change data. Read-only keys never have them. */
  writes: boolean
  /** True for permissions to read secrets. Read-only keys never have them. */
  secret?: boolean
  /** True when each use is recorded in the organization's audit log. */
  audited: boolean
  meaning: string
}

/** All permissions. Every route has one as its `access`. `docs/api/roles.md` is generated from this table. */
export const PERMISSIONS = {
  public: { from: null, writes: false, audited: false, meaning: 'No credential required' },
  read: {
    from: 'viewer',
    writes: false,
    audited: false,
    meaning:
      "Read everything except secrets, property tokens, channel targets, members' e-mail addresses and personal data in " +
      'events',
  },
  own: { from: 'viewer', writes: true, audited: true, meaning: 'Change your own name, password, API keys and digest' },
  edit: {
    from: 'member',
    writes: true,
    audited: false,
    meaning:
      'Manage alerts, issues, signals, labels, changes, hostnames, orders, maintenance windows, calendars, flow tests and ' +
      'audits',
  },
  seeTokens: {
    from: 'member',
    writes: false,
    secret: true,
    audited: false,
    meaning: 'View property tokens and channel targets',
  },
  seePersonal: {
    from: 'member',
    writes: false,
    audited: false,
    meaning: 'View personal data in events, which is masked for other roles, and screenshots and HARs of flow tests',
  },
  configure: {
    from: 'admin',
    writes: true,
    audited: true,
    meaning: 'Create, change and delete domains and integrations',
  },
  seeSettings: {
    from: 'admin',
    writes: false,
    audited: false,
    meaning: "View members' e-mail addresses, integration settings, the webhook secret and the audit log",
  },
  administer: {
    from: 'admin',
    writes: true,
    audited: true,
    meaning: "Manage members, all members' API keys, projects and organization settings",
  },
  seeBackups: {
    from: 'owner',
    writes: false,
    secret: true,
    audited: false,
    meaning: 'View the backups of a server with one organization',
  },
  operate: {
    from: 'owner',
    writes: true,
    audited: true,
    meaning:
      'Make and download backups of a server with one organization, and let a restored server send notifications',
  },
  govern: {
    from: 'owner',
    writes: true,
    audited: true,
    meaning: 'Grant and revoke the owner role, create further organizations, and delete this one',
  },
} as const satisfies Record<string, PermissionRow>

export type Permission = keyof typeof PERMISSIONS

/** True when read-only keys never have the permission, regardless of role. */
export function needsFullKey(permission: Permission): boolean {
  const { writes, secret = false }: PermissionRow = PERMISSIONS[permission]
  return writes || secret
}

/** True when the caller has the permission. */
export function may(principal: Principal, permission: Permission): boolean {
  const { from } = PERMISSIONS[permission]
  return from === null || (atLeast(principal.role, from) && !(needsFullKey(permission) && principal.readOnly))
}

/** Throws `forbidden` when the caller does not have the permission. The message names the missing role or right. */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (may(principal, permission)) return
  if (needsFullKey(permission) && principal.readOnly) throw new AppError('forbidden', 'this key is read-only')
  throw new AppError('forbidden', `this requires the role ${PERMISSIONS[permission].from}; yours is ${principal.role}`)
}
