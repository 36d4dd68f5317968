/** A literal letter or digit at the end of a pattern's source. */
const LITERAL = /(?<!\\)[A-Za-z0-9]$/

/** The end of a pattern: an optional slash and `$`. */
const END = /(?:\\\/\?)?\$$/

/**
 * Returns the possible last characters, ignoring a trailing slash, of paths that match a pattern; null when they can't
 * be derived from the pattern's source. Supports patterns that end in a word or in a group of words.
 */
export function lastCharacters(pattern: RegExp): string | null {
  const { source, flags } = pattern
  if (!END.test(source) || flags.includes('i')) return null
  const body = source.replace(END, '')
  const group = /\((?:\?:|\?<\w+>)([^()]*)\)$/.exec(body)
  const isWhole = !outsideGroups(body).includes('|')
  const words = group ? (group[1] ?? '').split('|') : [body]
  return isWhole && words.every((word) => LITERAL.test(word)) ? words.map((word) => word.slice(-1)).join('') : null
}

/** Returns the source without its groups; the whole source when groups are nested. */
function outsideGroups(source: string): string {
  const flat = source.replace(/\([^()]*\)/g, '')
  return /[()]/.test(flat) ? source : flat
}

/** Returns the last character of a path, ignoring a trailing slash; empty for the path `/`. */
export function lastCharacterOf(path: string): string {
  return path.at(path.endsWith('/') ? -2 : -1) ?? ''
}
