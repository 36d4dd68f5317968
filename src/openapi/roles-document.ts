import { KEY_SCOPES, type KeyScope } from '../contract/key-scopes.ts'
import { atLeast, ROLES } from '../contract/roles.ts'
import { needsFullKey, PERMISSIONS, type Permission } from '../http/permission.ts'
import type { Route } from '../http/route.ts'
import { scopeOf } from '../http/route-access.ts'

const permissions = Object.keys(PERMISSIONS) as Permission[]

/** Returns the permissions as a Markdown table with one row per permission and one column per role. */
export function permissionTable(): string {
  const head = ['permission', 'allows', ...ROLES]
  const lines = permissions.map((permission) => {
    const { from, meaning } = PERMISSIONS[permission]
    const mark = needsFullKey(permission) ? 'yes ¹' : 'yes'
    return [`\`${permission}\``, meaning, ...ROLES.map((role) => (from === null || atLeast(role, from) ? mark : '–'))]
  })
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export const TABLE_NOTE =
  '¹ Not with read-only keys and keys of viewers. Such keys can only read data, and cannot read secrets. Secrets, property ' +
  'tokens and channel targets require a session or a key with the scope `all`.'

const SCOPE_MEANINGS: Readonly<Record<KeyScope, string>> = {
  read: 'Read: all routes with a permission that does not write',
  alerts: 'Change alerts, signals, order rules, labels, maintenance windows and calendars',
  issues: 'Change issues, comments, findings, ownership rules and escalation',
  domains: 'Change domains, hostnames, sampling, tokens and projects',
  integrations: 'Change and test integrations, deploy tags, repeat deliveries',
  runs: 'Change and run flow tests and audits',
  collector: 'Send orders and changes, for shops and pipelines',
  all: 'Everything, including secrets, members, keys and settings of the organization',
}

/** Returns the scopes as a Markdown table with the routes that write. */
function scopeTable(routes: readonly Route[]): string {
  const rows = KEY_SCOPES.map((scope) => {
    const writing = routes.filter((route) => PERMISSIONS[route.access].writes && scopeOf(route) === scope)
    const list = scope === 'all' ? 'all routes' : writing.map(({ method, path }) => `\`${method} ${path}\``).join(', ')
    return `| \`${scope}\` | ${SCOPE_MEANINGS[scope]} | ${list || '–'} |`
  })
  return ['| scope | allows | routes that write |', '| --- | --- | --- |', ...rows].join('\n')
}

/** Returns `docs/api/roles.md`: the table, followed by the routes that require each permission. */
export function rolesDocument(routes: readonly Route[]): string {
  const sections = permissions.map((permission) => {
    const { meaning, writes } = PERMISSIONS[permission]
    const lines = routes
      .filter(({ access }) => access === permission)
      .map(({ method, path, summary }) => `- \`${method} ${path}\` – ${summary}`)
    const note = writes ? ' Each use is recorded in the audit log.' : ''
    return `## ${permission}\n\n${meaning}.${note}\n\n${lines.length > 0 ? lines.join('\n') : `No route requires it. It determines what responses contain.`}`
  })
  return `# Roles

Every route requires one permission. This table shows which roles have it. The server uses the same table
(\`src/http/permission.ts\`); this page is generated from it by \`./run test/golden.ts\`.

${permissionTable()}

${TABLE_NOTE}

## Scopes of API keys

${scopeTable(routes)}

A key with several scopes may call the routes of each. A key that also needs to read has the scope \`read\` as well. Property
tokens, not API keys, authenticate senders of events.

A key acts as the user who created it, with the user's current role. Requests for objects of other organizations receive
404, regardless of the role.

${sections.join('\n\n')}
`
}
