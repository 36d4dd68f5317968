import { atLeast, ROLES } from '../contract/roles.ts'
import { needsFullKey, PERMISSIONS, type Permission } from '../http/permission.ts'
import type { Route } from '../http/route.ts'

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
  '¹ Not with read-only keys and keys of viewers. Such keys can only read data, and cannot read secrets.'

/** Returns `docs/api/roles.md`: the table, followed by the routes that require each permission. */
export function rolesDocument(routes: readonly Route[]): string {
  const sections = permissions.map((permission) => {
    const { meaning, audited } = PERMISSIONS[permission]
    const lines = routes
      .filter(({ access }) => access === permission)
      .map(({ method, path, summary }) => `- \`${method} ${path}\` – ${summary}`)
    const note = audited ? ' Each use is recorded in the audit log.' : ''
    return `## ${permission}\n\n${meaning}.${note}\n\n${lines.length > 0 ? lines.join('\n') : `No route requires it. It determines what responses contain.`}`
  })
  return `# Roles

Every route requires one permission. This table shows which roles have it. The server uses the same table
(\`src/http/permission.ts\`); this page is generated from it by \`./run test/golden.ts\`.

${permissionTable()}

${TABLE_NOTE}

A key acts as the user who created it, with the user's current role. Requests for objects of other organizations receive
404, regardless of the role.

${sections.join('\n\n')}
`
}
