import { needsFullKey, PERMISSIONS, type Permission } from './permission.ts'
import { atLeast, ROLES } from './principal.ts'
import type { Route } from './route.ts'

const permissions = Object.keys(PERMISSIONS) as Permission[]

/** Returns the permissions as a table in Markdown: one line for each permission, one column for each role. */
export function permissionTable(): string {
  const head = ['permission', 'what it lets one do', ...ROLES]
  const lines = permissions.map((permission) => {
    const { from, meaning } = PERMISSIONS[permission]
    const mark = needsFullKey(permission) ? 'yes ¹' : 'yes'
    return [`\`${permission}\``, meaning, ...ROLES.map((role) => (from === null || atLeast(role, from) ? mark : '–'))]
  })
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export const TABLE_NOTE =
  '¹ Not with a key that was made read-only, and not with a key of a viewer: such keys read what is no secret, and nothing else.'

/** Returns `docs/api/roles.md`: the table, and under each permission the routes that need it. */
export function rolesDocument(routes: readonly Route[]): string {
  const sections = permissions.map((permission) => {
    const { meaning, audited } = PERMISSIONS[permission]
    const lines = routes
      .filter(({ access }) => access === permission)
      .map(({ method, path, summary }) => `- \`${method} ${path}\` – ${summary}`)
    const note = audited ? ' Each use is kept in the audit log.' : ''
    return `## ${permission}\n\n${meaning}.${note}\n\n${lines.length > 0 ? lines.join('\n') : `No route asks for it alone; it decides what answers show.`}`
  })
  return `# Roles

Every route names one permission; this table says which roles have it. It is the table by which the server decides
(\`src/http/permission.ts\`), and this page is written from it by \`./run test/golden.ts\`.

${permissionTable()}

${TABLE_NOTE}

A key acts as the user who made it, with that user's present role. Things of other organizations do not exist for a
caller, whatever the role: 404.

${sections.join('\n\n')}
`
}
