import { hideCredentials, isCredential, isCredentialKey, isCredentialPair } from '../core/detect-credentials.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import { cutText } from '../core/text.ts'
import { parseBoundedJson } from './parse-bounded-json.ts'

/** Parameters without nesting. The object has no prototype, so keys such as `__proto__` are ordinary keys. */
export type Params = Record<string, string>

export const MAX_PARAMS = 500
export const MAX_KEY_LENGTH = 200
/** Maximum length of a value in UTF-16 code units, as for all lengths in this file. */
export const MAX_VALUE_LENGTH = 4000

/** Maximum number of pairs read from one query string or form. This is more than enough to reach `MAX_PARAMS`. */
const MAX_PAIRS = 2 * MAX_PARAMS

/**
 * Changes that `flattenParams` may make to the parameters. The list is fixed, so that changes can be counted by type.
 */
export const CUT = {
  count: `params: more than ${MAX_PARAMS}; the rest was dropped`,
  key: `params: a key was longer than ${MAX_KEY_LENGTH} characters and was truncated`,
  value: `params: a value was longer than ${MAX_VALUE_LENGTH} characters and was truncated`,
  twice: 'params: a key occurred more than once; only the first value was kept',
} as const

export interface Flattened {
  params: Params
  /** Entries of `CUT`, each at most once. Empty when nothing was changed. */
  cut: string[]
}

export function emptyParams(): Params {
  return Object.create(null)
}

/** Makes a string safe to store: lone surrogates and NUL characters become U+FFFD. */
export function cleanText(text: string): string {
  return isClean(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * Flattens nested values to dotted keys: `{items: [{id: 7}]}` becomes `items.0.id = "7"`. Numbers and booleans become
 * their JSON text, and null becomes an empty string. Empty objects, empty lists and undefined are omitted. The limits
 * above apply. Credentials are removed here, because all stored parameters pass through this function.
 * @param account a public id that is not removed under any key, because some vendors use the id of the project as the
 * API key
 */
export function flattenParams(source: object, account: string | null = null): Flattened {
  const flattening: Flattening = { params: emptyParams(), cut: new Set(), left: MAX_PARAMS, account }
  addAll(flattening, '', source)
  return { params: flattening.params, cut: [...flattening.cut] }
}

interface Flattening {
  params: Params
  cut: Set<string>
  /** Number of parameters that can still be added. */
  left: number
  /** A public id, which is not treated as a credential. */
  account: string | null
}

function addAll(into: Flattening, prefix: string, source: object): void {
  // For a long array, `for in` does not list all keys before the first element is read.
  for (const key in source) {
    const value = (source as Record<string, unknown>)[key]
    if (value === undefined || (key === 'value' && isCredentialPair(source))) continue
    if (into.left === 0) {
      into.cut.add(CUT.count)
      return
    }
    const path = prefix + key
    if (isSecret(into, path, value)) continue
    if (typeof value !== 'object' || value === null) add(into, path, scalarText(value))
    // All keys below a longer path would be truncated. Stopping here also limits the depth.
    else if (path.length >= MAX_KEY_LENGTH) into.cut.add(CUT.key)
    else addAll(into, `${path}.`, value)
  }
}

function isSecret({ account }: Flattening, key: string, value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return isCredentialKey(key)
  const text = scalarText(value)
  return isCredential(key, text) && text !== account
}

function add(into: Flattening, path: string, value: string): void {
  // A body that is not a form may have been parsed as a form with a single long key.
  const key = cleanText(cutText(isCredentialKey(path) ? hideCredentials(path) : path, MAX_KEY_LENGTH))
  if (path.length > MAX_KEY_LENGTH) into.cut.add(CUT.key)
  if (key in into.params) {
    into.cut.add(CUT.twice)
    return
  }
  // Credentials are removed before the value is truncated, because a credential without its end would not be
  // recognised.
  const shown = hideCredentials(value)
  if (shown.length > MAX_VALUE_LENGTH) into.cut.add(CUT.value)
  into.params[key] = cleanText(cutText(shown, MAX_VALUE_LENGTH))
  into.left--
}

/** Returns a number or boolean as JSON text, a string unchanged, and '' for any other value. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : ''
  return typeof value === 'boolean' ? String(value) : ''
}

/** Like `scalarText`, but returns null instead of an empty string. Used for accounts. */
export function scalarOrNull(value: unknown): string | null {
  return scalarText(value) || null
}

/** Returns the value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}

/**
 * Returns the first keys of an object, up to the maximum number of parameters in an event. Shared parameters of a batch
 * are copied into each of its events, so a hostile batch must not have too many.
 */
export function sharedOf(source: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).slice(0, MAX_PARAMS))
}

/** Returns the objects in a list. Empty if the value is not a list. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/**
 * Parses a query string, with or without its `?`, or a form body. The first value of a repeated key is stored under the
 * key itself, further values under `key.1`, `key.2`, … A part with malformed percent-encoding is not decoded. `params`
 * contains existing parameters, to which the parsed ones are added.
 */
export function readQuery(text: string, params = emptyParams()): Params {
  const add = pairCollector(params)
  let start = text.startsWith('?') ? 1 : 0
  for (let pairs = 0; start < text.length && pairs < MAX_PAIRS; pairs++) {
    const next = text.indexOf('&', start)
    const end = next === -1 ? text.length : next
    if (end > start) {
      const equals = text.indexOf('=', start)
      if (equals === -1 || equals >= end) add(decodePart(text.slice(start, end)), '')
      else add(decodePart(text.slice(start, equals)), decodePart(text.slice(equals + 1, end)))
    }
    start = end + 1
  }
  return params
}

/**
 * Returns a function that adds a value to the parameters without replacing any. Further values for the same key are
 * stored as `key.1`, `key.2`, …
 */
export function pairCollector<Value>(params: Record<string, Value>): (key: string, value: Value) => void {
  let repeats: Map<string, number> | null = null
  return (key, value) => {
    if (!(key in params)) {
      params[key] = value
      return
    }
    repeats ??= new Map()
    let repeat = (repeats.get(key) ?? 0) + 1
    // A parameter with this name may have been sent as well.
    while (`${key}.${repeat}` in params) repeat++
    repeats.set(key, repeat)
    params[`${key}.${repeat}`] = value
  }
}

function decodePart(part: string): string {
  const spaced = part.includes('+') ? part.replaceAll('+', ' ') : part
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch (error) {
    if (error instanceof URIError) return part
    throw error
  }
}

/** Returns the fields of a URL-encoded or multipart form body. Files are omitted. */
export function readForm(body: string): Params {
  return isMultipart(body) ? readMultipart(body) : readQuery(body.trim())
}

/**
 * True when a body begins like a form. Other bodies may contain URLs, whose parameters would be mistaken for fields.
 */
export function isForm(body: string | null): body is string {
  return body !== null && (/^[\w.[\]%+-]+=/.test(body) || isMultipart(body))
}

/**
 * Returns the mark (`Route.mark`) of requests that have all of these parameters in the query or in a form.
 * @param pairs sources of patterns, such as `tid=UA-\\d`
 */
export function formMark(...pairs: string[]): RegExp {
  const all = pairs.map((pair) => `(?=.*[?&]${pair}|.*\\n(?:[\\s\\S]*&)?${pair})`).join('')
  return new RegExp(`^(?=.*\\n(?:$|[\\w.[\\]%+-]+=))${all}`)
}

function isMultipart(body: string): boolean {
  return body.startsWith('--') && body.includes('form-data')
}

/**
 * https://www.rfc-editor.org/rfc/rfc7578. The first line is the boundary. Each part consists of headers, an empty line
 * and text.
 */
function readMultipart(body: string): Params {
  const params = emptyParams()
  const add = pairCollector(params)
  const boundary = body.slice(0, body.search(/\r?\n|$/))
  for (const part of body.split(boundary, MAX_PAIRS + 1).slice(1)) {
    const blank = /\r?\n\r?\n/.exec(part)
    if (!blank) continue
    const headers = part.slice(0, blank.index)
    const name = /;\s*name="([^"]*)"/i.exec(headers)?.[1]
    if (name === undefined || /;\s*filename\*?=/i.test(headers)) continue
    add(formName(name), part.slice(blank.index + blank[0].length).replace(/\r?\n$/, ''))
  }
  return params
}

/**
 * Unescapes the name of a field. Browsers escape three characters in it:
 * https://html.spec.whatwg.org/#multipart-form-data
 */
function formName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

/**
 * Parses a JSON object. Throws when the text is missing or not a JSON object. The error message does not quote the
 * text.
 */
export function readJsonObject(text: string | null): Record<string, unknown> {
  if (!text) throw new Error('the body is missing')
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new Error('the body is not a JSON object')
  return value
}

function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error('the body is not JSON')
    throw error
  }
}

/**
 * Returns the lines that are not blank. Empty for a multipart form, in which the name and the value of a field are on
 * different lines.
 */
export function readLines(body: string): string[] {
  return isMultipart(body) ? [] : body.split('\n').filter((line) => line.trim() !== '')
}
