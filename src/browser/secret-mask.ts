/** Replaces each secret. */
const HIDDEN = '***'
/**
 * Minimum length of a base64 piece, because shorter pieces occur in any text. Secrets of up to three bytes do not
 * produce a piece of this length at every position.
 */
const SHORTEST_BASE64 = 4

/** Nested formats, such as a URL in a URL or JSON in a form, escape a character several times: `%252F`, `\\\"`. */
const PERCENT = '%(?:25){0,4}'
const BACKSLASH = String.raw`(?:\\|${PERCENT}5C)`
const ESCAPES = `${BACKSLASH}{1,8}`

/** Characters with a short escape in JSON and JavaScript. */
const SHORT_ESCAPES: Record<string, string> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v' }
const ENTITIES: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

const hex = (value: number, width: number) => value.toString(16).padStart(width, '0')

/**
 * Returns a function that replaces the secrets in a text with `***`. Secrets are matched in upper and lower case, with
 * separators between their characters, and as encoded in URLs, forms, JSON, JavaScript, HTML and base64, including
 * nested encodings. Empty secrets are ignored. A secret of fewer than four bytes is not found in base64 when other data
 * precedes it.
 */
export function maskerOf(secrets: readonly string[]): (text: string) => string {
  const plain = secretPattern(secrets)
  if (!plain) return (text) => text
  const packed = base64Pattern(secrets)
  return (text) => text.replace(plain, HIDDEN).replace(packed, HIDDEN)
}

/** Returns a pattern for every form of the secrets except base64; null when there are no secrets. */
export function secretPattern(secrets: readonly string[]): RegExp | null {
  const texts = formsOf(secrets)
  if (texts.length === 0) return null
  const whole = texts.map((text) => Array.from(text, spellings).join(''))
  const grouped = secrets.flatMap((secret) => groupedPattern(secret) ?? [])
  return new RegExp([...grouped, ...whole].join('|'), 'giu')
}

/** Minimum length of a secret that is also matched with separators. Shorter secrets would match by coincidence. */
const SHORTEST_GROUPED = 6
/** Separators between the groups of a number or code on a page: `4929 1234`, `4929-1234`, `4929%201234`. */
const GAP = String.raw`\s.,:;\u00a0\u00ad\u200b-\u200d\u2010-\u2015\u2212\u2060·•_\/|\-`
const GAPS = new RegExp(`[${GAP}]+`, 'gu')
const ANY_GAPS = `(?:[${GAP}+]|%(?:25){0,2}20|&nbsp;){0,4}`

/**
 * Returns a pattern for the secret with any separators between its characters. Separators in the secret are ignored.
 * Null when the secret is too short.
 */
function groupedPattern(secret: string): string | null {
  const characters = Array.from(secret.replaceAll(GAPS, ''))
  if (characters.length < SHORTEST_GROUPED) return null
  return characters.map((character) => RegExp.escape(character)).join(ANY_GAPS)
}

/**
 * Sorted by length, longest first. When a secret begins with another secret, no part of the longer one remains visible.
 */
function formsOf(secrets: readonly string[]): string[] {
  // Some letters have several forms when their case changes: `ß`, `SS`.
  const cases = secrets.flatMap((secret) => [secret, secret.toUpperCase(), secret.toLowerCase()])
  const forms = cases.flatMap((secret) => [secret, secret.trim(), secret.normalize('NFC'), secret.normalize('NFD')])
  return [...new Set(forms)].filter((text) => text !== '').toSorted((a, b) => b.length - a.length)
}

/** Returns all forms of a character as a group in a case-insensitive regular expression. */
function spellings(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  const code = character.codePointAt(0) ?? 0
  const each = (write: (unit: number) => string) => units.map(write).join('')
  const isWord = /[\p{L}\p{N}]/u.test(character)
  const bytes = [...new TextEncoder().encode(character)].map((byte) => PERCENT + hex(byte, 2)).join('')
  const plain = `(?:${RegExp.escape(character)}|${bytes})`
  const ways = [
    // A backslash before a letter would change its meaning.
    isWord ? plain : `${BACKSLASH}{0,8}${plain}`,
    each((unit) => `${ESCAPES}u${hex(unit, 4)}`),
    `${ESCAPES}u\\{0{0,4}${code.toString(16)}\\}`,
    each((unit) => `${PERCENT}u${hex(unit, 4)}`),
    `${percentOr('&')}${percentOr('#')}(?:0{0,6}${code}|x0{0,6}${code.toString(16)})(?:${percentOr(';')})?`,
  ]
  if (code < 0x100) ways.push(`${ESCAPES}x${hex(code, 2)}`, PERCENT + hex(code, 2))
  if (character === ' ') ways.push(String.raw`\+`, `${PERCENT}2B`)
  const short = SHORT_ESCAPES[character]
  if (short) ways.push(ESCAPES + short)
  const entity = ENTITIES[character]
  if (entity) ways.push(`${percentOr('&')}${entity}${percentOr(';')}`)
  return `(?:${ways.join('|')})`
}

const percentOr = (character: string) => `(?:${RegExp.escape(character)}|${PERCENT}${hex(character.charCodeAt(0), 2)})`

/**
 * Returns a case-sensitive pattern for parts of a secret in base64, regardless of the position at which the secret
 * begins in the encoded data.
 */
function base64Pattern(secrets: readonly string[]): RegExp {
  const texts = formsOf(secrets).flatMap((text) => {
    const inUrl = encodeURIComponent(text.toWellFormed())
    return [text, inUrl, inUrl.replaceAll('%20', '+'), JSON.stringify(text).slice(1, -1)]
  })
  const pieces = [...new Set(texts)].flatMap((text) => base64Pieces(new TextEncoder().encode(text)))
  const longestFirst = [...new Set(pieces)].toSorted((a, b) => b.length - a.length)
  const spelled = longestFirst.map((piece) => Array.from(piece, base64Spellings).join(''))
  // The empty class matches nothing.
  return new RegExp(spelled.join('|') || '[]', 'g')
}

/**
 * Returns one piece for each of the three positions at which the secret may begin in a group of three bytes. A piece
 * contains only the base64 digits that are fully determined by the secret.
 */
function base64Pieces(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const piece = digits.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return piece.length < SHORTEST_BASE64 ? [] : [piece]
  })
}

function base64Spellings(digit: string): string {
  if (digit === '+') return `(?:\\+|-|${PERCENT}2[Bb])`
  return digit === '/' ? `(?:(?:${BACKSLASH})?/|_|${PERCENT}2[Ff])` : digit
}
