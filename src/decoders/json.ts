import { objectsOf, readLines } from './params.ts'
import { parseBoundedJson } from './parse-json.ts'

/** Parses any JSON value. Throws when the text is missing or not JSON. The error message does not quote the text. */
export function readJson(text: string | null | undefined): unknown {
  if (!text) throw new Error('the body is missing')
  try {
    return parseBoundedJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error('the body is not JSON')
    throw error
  }
}

/**
 * Returns the objects in a JSON list, or the single object that the text contains. Throws like `readJson`, and for any
 * other value.
 */
export function readJsonObjects(text: string | null | undefined): Record<string, unknown>[] {
  const value = readJson(text)
  const objects = objectsOf(Array.isArray(value) ? value : [value])
  if (objects.length === 0 && !Array.isArray(value)) throw new Error('the body does not consist of JSON objects')
  return objects
}

/**
 * Returns the objects in a text with one JSON value per line, or in one JSON value as in `readJsonObjects`. Lines that
 * are not JSON are omitted. Throws when nothing can be read.
 */
export function readJsonLines(text: string | null | undefined): Record<string, unknown>[] {
  const lines = readLines(text ?? '')
  if (lines.length < 2) return readJsonObjects(text)
  const whole = unfolded(text)
  if (whole !== text) return readJsonObjects(text)
  const objects = objectsOf(lines.map(unfolded))
  return objects.length > 0 ? objects : readJsonObjects(text)
}

/**
 * Returns the objects in a list, or the value itself if it is an object. Both may also be written as JSON text. Empty
 * when there is no value. Throws for text that is not JSON.
 */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  const list = unfolded(value)
  if (typeof list === 'string' && list !== '') throw new Error('its list of events is not JSON')
  return objectsOf((Array.isArray(list) ? list : [list]).map(unfolded))
}

/** True when the text looks like a JSON object or list. It may still be malformed. */
export function isJson(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && /^\s*[[{]/.test(text)
}

/**
 * True when the body begins with `start` and contains all parts. A cheap check that recognises a vendor by the format
 * its code sends, on any host and path.
 */
export function looksLike(body: string | null, start: string, ...parts: string[]): boolean {
  return body?.startsWith(start) === true && parts.every((part) => body.includes(part))
}

/** Returns the object or list in a parameter that is JSON text; otherwise the value itself. */
export function unfolded(value: unknown): unknown {
  if (typeof value !== 'string' || !isJson(value)) return value
  try {
    return parseBoundedJson(value)
  } catch (error) {
    if (error instanceof SyntaxError) return value
    throw error
  }
}

/** Decodes base64 in either alphabet to UTF-8 text. A plus sign that a form decoded as a space is restored. */
export function fromBase64(text: string): string {
  return Buffer.from(text.replaceAll(' ', '+'), 'base64').toString()
}

/** Base64, in either alphabet, of a JSON object or a list of objects. */
const JSON_IN_BASE64 = /^(?:eyJ|W3s)[\w+/=-]*\s*$/

/**
 * Returns the source of a pattern that finds a string inside base64, at each of the three offsets where it can begin
 * within a group. Only base64 characters that are fully determined by the string are matched.
 */
export function sourceInBase64(text: string): string {
  const variants = [0, 1, 2].map((shift) => {
    const bytes = Buffer.from('\0'.repeat(shift) + text)
    const characters = bytes.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6))
    return characters.replaceAll(/[+/]/g, '[\\w%+/-]+')
  })
  return `(?:${variants.join('|')})`
}

/** Returns the text itself, or the JSON that it contains in base64. */
export function openedBase64(text: string): string {
  return JSON_IN_BASE64.test(text) ? fromBase64(text) : text
}

/**
 * Returns the mark (`Route.mark`) of requests whose `sdkJson` contains all of these strings.
 * @param texts parts of JSON, without characters that must be escaped in a pattern
 */
export function sentJsonMark(...texts: string[]): RegExp {
  const containing = (sourceOf: (text: string) => string) =>
    texts.map((text) => `(?=[\\s\\S]*${sourceOf(text)})`).join('')
  const plain = `.*\\n\\s*[[{]${containing((text) => text)}`
  // The strings are searched for first, because searching for them after each `data=` would not take linear time.
  const escaped = `${containing(encodeURIComponent)}[\\s\\S]*[?&\\n]data=(?:%7B|%5B)`
  const inBase64 = `${containing(sourceInBase64)}[\\s\\S]*(?:[?&\\n]data=|\\n)(?:eyJ|W3s)`
  return new RegExp(`^(?:${plain}|${escaped}|${inBase64})`)
}

/** Maximum number of values read from one parameter; more than any page sends. */
const MAX_LEAVES = 300
const MAX_LEVELS = 8

/**
 * Returns the values inside a parameter that contains a JSON object or list as text, with the keys that a form would
 * use: `ed[line_items][0][product_id]`. Empty for other parameters. Reads at most 300 values and 8 levels.
 */
export function bracketed(key: string, text: unknown): Record<string, unknown> {
  const value = unfolded(text)
  const leaves: [string, unknown][] = []
  if (value !== text) addLeaves(leaves, key, value, MAX_LEVELS)
  return Object.fromEntries(leaves)
}

function addLeaves(leaves: [string, unknown][], path: string, value: unknown, levels: number): void {
  if (leaves.length >= MAX_LEAVES || levels < 0) return
  if (typeof value !== 'object' || value === null) {
    leaves.push([path, value])
    return
  }
  // `for in` does not enumerate all keys of a long array before reading its first element.
  for (const key in value) {
    if (leaves.length >= MAX_LEAVES) return
    addLeaves(leaves, `${path}[${key}]`, (value as Record<string, unknown>)[key], levels - 1)
  }
}
