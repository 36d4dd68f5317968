/** A letter or digit that stands for itself, at the end of a text of a pattern. */
const LITERAL = /(?<!\\)[A-Za-z0-9]$/

/** The end of a pattern: an optional slash and `$`. */
const END = /(?:\\\/\?)?\$$/

/**
 * Returns the last characters, ignoring a trailing slash, of paths that a pattern can match; null when the pattern's
 * source does not show them. Understands patterns that end in a word or in a group of words.
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

/** The source without its groups; with all of it when they are nested. */
function outsideGroups(source: string): string {
  const flat = source.replace(/\([^()]*\)/g, '')
  return /[()]/.test(flat) ? source : flat
}

/** The last character of a path, its last slash aside; empty for the path `/`. */
export function lastCharacterOf(path: string): string {
  return path.at(path.endsWith('/') ? -2 : -1) ?? ''
}
