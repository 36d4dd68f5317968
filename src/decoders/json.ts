import { objectsOf, readLines } from './params.ts'
import { parseBoundedJson } from './parse-bounded-json.ts'

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
 * Returns the objects in a JSON list, or the only object if the text is one. Throws like `readJson`, and for any other
 * JSON value.
 */
export function readJsonObjects(text: string | null | undefined): Record<string, unknown>[] {
  const value = readJson(text)
  const objects = objectsOf(Array.isArray(value) ? value : [value])
  if (objects.length === 0 && !Array.isArray(value)) throw new Error('the body does not consist of JSON objects')
  return objects
}

/**
 * Returns the objects in a text that has one JSON value per line, or that is a single JSON value as in
 * `readJsonObjects`. Lines that are not JSON are omitted. Throws when nothing can be read.
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
 * Returns the objects in a list, or the value itself if it is an object. A list or object may also be JSON text. Empty
 * when there is no value. Throws for text that is not JSON.
 */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  const list = unfolded(value)
  if (typeof list === 'string' && list !== '') throw new Error('its list of events is not JSON')
  return objectsOf((Array.isArray(list) ? list : [list]).map(unfolded))
}

/** True when the text looks like a JSON object or list. It may nevertheless be malformed. */
export function isJson(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && /^\s*[[{]/.test(text)
}

/**
 * True when the body begins with `start` and contains all parts. A fast check that recognises a vendor by its body
 * format, on any host and path.
 */
export function looksLike(body: string | null, start: string, ...parts: string[]): boolean {
  return body?.startsWith(start) === true && parts.every((part) => body.includes(part))
}

/** Returns the object or list in a parameter that contains JSON text; otherwise the value itself. */
export function unfolded(value: unknown): unknown {
  if (typeof value !== 'string' || !isJson(value)) return value
  try {
    return parseBoundedJson(value)
  } catch (error) {
    if (error instanceof SyntaxError) return value
    throw error
  }
}

/**
 * Decodes base64 to UTF-8 text. Both alphabets are accepted, and spaces are treated as plus signs that a form decoder
 * replaced.
 */
export function fromBase64(text: string): string {
  return Buffer.from(text.replaceAll(' ', '+'), 'base64').toString()
}

/** Base64 of a JSON object or of a list of objects, in either alphabet. */
const JSON_IN_BASE64 = /^(?:eyJ|W3s)[\w+/=-]*\s*$/

/**
 * Returns the source of a pattern that finds a string in base64-encoded text. The string may begin at any of three
 * offsets within a base64 group, and the pattern contains only those base64 characters that the string fully
 * determines.
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
 * @param texts parts of JSON text that contain no characters with a special meaning in patterns
 */
export function sentJsonMark(...texts: string[]): RegExp {
  const containing = (sourceOf: (text: string) => string) =>
    texts.map((text) => `(?=[\\s\\S]*${sourceOf(text)})`).join('')
  const plain = `.*\\n\\s*[[{]${containing((text) => text)}`
  // The pattern looks for the strings before `data=`, because looking for them after each `data=` would not take linear
  // time.
  const escaped = `${containing(encodeURIComponent)}[\\s\\S]*[?&\\n]data=(?:%7B|%5B)`
  const inBase64 = `${containing(sourceInBase64)}[\\s\\S]*(?:[?&\\n]data=|\\n)(?:eyJ|W3s)`
  return new RegExp(`^(?:${plain}|${escaped}|${inBase64})`)
}

/** Maximum number of values read from one parameter; more than any page sends. */
const MAX_LEAVES = 300
const MAX_LEVELS = 8

/**
 * Returns the values in a parameter that contains a JSON object or list as text. The keys are those that a form would
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
  // For a long array, `for in` does not list all keys before the first element is read.
  for (const key in value) {
    if (leaves.length >= MAX_LEAVES) return
    addLeaves(leaves, `${path}[${key}]`, (value as Record<string, unknown>)[key], levels - 1)
  }
}
