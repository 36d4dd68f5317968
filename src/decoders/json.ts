import { objectsOf, readLines } from './params.ts'
import { parsed } from './parse-json.ts'

/** Any JSON value. Throws, with a message that quotes nothing of the text, when it is missing or no JSON. */
export function readJson(text: string | null | undefined): unknown {
  if (!text) throw new Error('the body is missing')
  try {
    return parsed(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error('the body is not JSON')
    throw error
  }
}

/** The objects of a JSON list, or the one that the text is. Throws as `readJson`, and for any other value. */
export function readJsonObjects(text: string | null | undefined): Record<string, unknown>[] {
  const value = readJson(text)
  const objects = objectsOf(Array.isArray(value) ? value : [value])
  if (objects.length === 0 && !Array.isArray(value)) throw new Error('the body is not JSON objects')
  return objects
}

/**
 * The objects of a text with one JSON value a line, or of one JSON value as `readJsonObjects`. Lines that are not JSON are
 * left out. Throws when nothing can be read.
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
 * The objects of a list, or the one object that the value is, also where these are written as JSON texts. Empty when there
 * is no value. Throws for a text that is not JSON.
 */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  const list = unfolded(value)
  if (typeof list === 'string' && list !== '') throw new Error('its list of events is not JSON')
  return objectsOf((Array.isArray(list) ? list : [list]).map(unfolded))
}

/** Whether the text looks like a JSON object or list; it may yet be broken. */
export function isJson(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && /^\s*[[{]/.test(text)
}

/**
 * Whether the body begins so and has all the parts in it. Cheap; for telling a vendor by what its code sends, under
 * whatever host and path.
 */
export function looksLike(body: string | null, start: string, ...parts: string[]): boolean {
  return body?.startsWith(start) === true && parts.every((part) => body.includes(part))
}

/** Returns the object or list in a parameter that is JSON text; otherwise the value itself. */
export function unfolded(value: unknown): unknown {
  if (typeof value !== 'string' || !isJson(value)) return value
  try {
    return parsed(value)
  } catch (error) {
    if (error instanceof SyntaxError) return value
    throw error
  }
}

/** Base64 of either alphabet as UTF-8 text. A plus sign that a form turned into a space is one again. */
export function fromBase64(text: string): string {
  return Buffer.from(text.replaceAll(' ', '+'), 'base64').toString()
}

/** Base64, of either alphabet, of a JSON object or a list of them. */
const JSON_IN_BASE64 = /^(?:eyJ|W3s)[\w+/=-]*\s*$/

/**
 * Source of a pattern that finds a text inside base64, at each of the three places of a group where it can begin. Of the text
 * it tests the whole characters only.
 */
export function sourceInBase64(text: string): string {
  const variants = [0, 1, 2].map((shift) => {
    const bytes = Buffer.from('\0'.repeat(shift) + text)
    const characters = bytes.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((bytes.length * 8) / 6))
    return characters.replaceAll(/[+/]/g, '[\\w%+/-]+')
  })
  return `(?:${variants.join('|')})`
}

/** The text itself, or the JSON that it contains in base64. */
export function openedBase64(text: string): string {
  return JSON_IN_BASE64.test(text) ? fromBase64(text) : text
}

/**
 * Mark (`Route.mark`) of requests whose `sdkJson` contains all of these texts.
 * @param texts of JSON, without characters that a pattern has to escape
 */
export function sentJsonMark(...texts: string[]): RegExp {
  const containing = (sourceOf: (text: string) => string) =>
    texts.map((text) => `(?=[\\s\\S]*${sourceOf(text)})`).join('')
  const plain = `.*\\n\\s*[[{]${containing((text) => text)}`
  // The texts come first, because to look for them after each `data=` would not take linear time.
  const escaped = `${containing(encodeURIComponent)}[\\s\\S]*[?&\\n]data=(?:%7B|%5B)`
  const inBase64 = `${containing(sourceInBase64)}[\\s\\S]*(?:[?&\\n]data=|\\n)(?:eyJ|W3s)`
  return new RegExp(`^(?:${plain}|${escaped}|${inBase64})`)
}

/** Of one parameter; more than any page sends. */
const MAX_LEAVES = 300
const MAX_LEVELS = 8

/**
 * The values inside a parameter that is a JSON object or list written as text, under the keys that a form would give
 * them: `ed[line_items][0][product_id]`. Empty for everything else. Reads at most 300 values and 8 levels.
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
  // `for in` does not list a long array before its first element is read.
  for (const key in value) {
    if (leaves.length >= MAX_LEAVES) return
    addLeaves(leaves, `${path}[${key}]`, (value as Record<string, unknown>)[key], levels - 1)
  }
}
