/** A literal letter or digit at the end of a pattern's source. */
const LITERAL = /(?<!\\)[A-Za-z0-9]$/

/** The end of a pattern: an optional slash and `$`. */
const END = /(?:\\\/\?)?\$$/

/**
 * Returns the possible last characters of the paths that match a pattern, ignoring a trailing slash. Null when they
 * can't be derived from the pattern's source. Supports patterns that end in a word or in a group of words.
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

/** Returns the part of the source that is outside groups. If groups are nested, returns the whole source. */
function outsideGroups(source: string): string {
  const flat = source.replace(/\([^()]*\)/g, '')
  return /[()]/.test(flat) ? source : flat
}

/** Returns the last character of a path, ignoring a trailing slash. Empty for the path `/`. */
export function lastCharacterOf(path: string): string {
  return path.at(path.endsWith('/') ? -2 : -1) ?? ''
}
