/**
 * Replacements that turn a path into its group, in order: RE2 patterns without groups, and literal replacements. The
 * same list is used in SQL.
 */
export const PAGE_GROUP_STEPS: readonly (readonly [pattern: string, replacement: string])[] = [
  // Path parameters, such as `;jsessionid=…`.
  [';[^/]*', ''],
  // Parts with at least three digits: `4711`, `blue-shirt-4711`, UUIDs, most codes.
  ['(?:[^/0-9]*[0-9]){3}[^/]*', ':id'],
  // E-mail addresses.
  ['[^/]*(?:@|%40)[^/]*', ':id'],
  // Tokens.
  ['[^/]*[0-9A-Za-z]{20}[^/]*', ':id'],
  // Short numbers. A match consumes the slash that would begin the next match, hence twice.
  ['/[0-9]+/', '/:id/'],
  ['/[0-9]+/', '/:id/'],
  ['/[0-9]+$', '/:id'],
  ['/+$', ''],
  ['^$', '/'],
]

const STEPS = PAGE_GROUP_STEPS.map(([pattern, replacement]) => [new RegExp(pattern, 'g'), replacement] as const)

/**
 * Returns the path with ids replaced, so that pages of the same kind form one group: `/product/4711/reviews` becomes
 * `/product/:id/reviews`. A part of the path is an id if it is a number, contains at least three digits, contains an
 * e-mail address, or has at least 20 letters or digits in a row. Path parameters and trailing slashes are removed. Null
 * for an unknown path.
 */
export function pageGroupOf(path: string | null): string | null {
  if (path === null) return null
  return STEPS.reduce((group, [pattern, replacement]) => group.replace(pattern, replacement), path)
}

/** Returns the release of an event with this version, in JSON notation: `12`, `0.5`, `1e21`. Null if it is unknown. */
export function releaseOf(version: number | null): string | null {
  return version === null ? null : String(version).replace('e+', 'e')
}
