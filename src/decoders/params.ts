import { hideCredentials, isCredential, isCredentialKey, isCredentialPair } from '../core/credentials.ts'
import { cutText } from '../core/text.ts'
import { parsed } from './parse-json.ts'

/** Flat parameters. The object has no prototype, so that keys such as `__proto__` are keys like any other. */
export type Params = Record<string, string>

export const MAX_PARAMS = 500
export const MAX_KEY_LENGTH = 200
/** In UTF-16 units, as are all lengths here. */
export const MAX_VALUE_LENGTH = 4000

/** Pairs that one query string or form is read to; more than enough to reach `MAX_PARAMS`. */
const MAX_PAIRS = 2 * MAX_PARAMS

/** Changes that `flattenParams` may make. A closed list, so that a ledger can count by them. */
export const CUT = {
  count: `params: more than ${MAX_PARAMS}, the rest was dropped`,
  key: `params: a key was longer than ${MAX_KEY_LENGTH} characters and was cut`,
  value: `params: a value was longer than ${MAX_VALUE_LENGTH} characters and was cut`,
  twice: 'params: a key came twice, the first one was kept',
} as const

export interface Flattened {
  params: Params
  /** Entries of `CUT`, each at most once; empty when everything was kept as it came. */
  cut: string[]
}

export function emptyParams(): Params {
  return Object.create(null)
}

/** The text fit for storage: lone surrogates and NUL characters become U+FFFD. */
export function cleanText(text: string): string {
  return isClean(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * Nested values as dotted keys: `{items: [{id: 7}]}` becomes `items.0.id = "7"`. Numbers and booleans become their
 * JSON text, null the empty text; an empty object or list and undefined leave nothing. Keeps the limits above.
 * Credentials are left out: everything that is stored goes through here.
 * @param isKnownClean none of its texts can hold what `cleanText` replaces
 * @param account a public id that stays, whatever its key: the API key of some vendors is the project's id
 */
export function flattenParams(source: object, isKnownClean = false, account: string | null = null): Flattened {
  const copy = copyOfFlat(source, isKnownClean)
  if (copy) return { params: copy, cut: [] }
  const flattening: Flattening = { params: emptyParams(), cut: new Set(), left: MAX_PARAMS, account }
  addAll(flattening, '', source)
  return { params: flattening.params, cut: [...flattening.cut] }
}

/**
 * A copy of what is flat, short and clean already; null for everything else. Most traffic is, and `for in` reads a
 * freshly parsed object several times faster than `Object.entries` (measured), so this path is worth its own lines.
 */
function copyOfFlat(source: object, isKnownClean: boolean): Params | null {
  const from = source as Record<string, unknown>
  const params = emptyParams()
  let left = MAX_PARAMS
  for (const key in from) {
    const value = from[key]
    if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH || key.length > MAX_KEY_LENGTH) return null
    if (left-- === 0 || isCredentialKey(key) || !(isKnownClean || isClean(key))) return null
    if (isKnownClean ? hideCredentials(value) !== value : !staysAsSent(value)) return null
    params[key] = value
  }
  return params
}

/** Characters without which a value is clean and has no credential in it: a single search instead of three. */
const SUSPICIOUS = /[\0\uD800-\uDFFF="%]/

function staysAsSent(value: string): boolean {
  return !SUSPICIOUS.test(value) || (isClean(value) && hideCredentials(value) === value)
}

interface Flattening {
  params: Params
  cut: Set<string>
  /** Parameters that may still come. */
  left: number
  /** A public id that is no credential. */
  account: string | null
}

function addAll(into: Flattening, prefix: string, source: object): void {
  // `for in` does not list a long array before its first element is read.
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
    // A longer path could only end in keys that are cut; stopping here also bounds the depth.
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
  // A body that is no form is read as one with a single long name.
  const key = cleanText(cutText(isCredentialKey(path) ? hideCredentials(path) : path, MAX_KEY_LENGTH))
  if (path.length > MAX_KEY_LENGTH) into.cut.add(CUT.key)
  if (key in into.params) {
    into.cut.add(CUT.twice)
    return
  }
  // The removed part could end a credential, which would then no longer be recognised.
  const shown = hideCredentials(value)
  if (shown.length > MAX_VALUE_LENGTH) into.cut.add(CUT.value)
  into.params[key] = cleanText(cutText(shown, MAX_VALUE_LENGTH))
  into.left--
}

/** JSON text of a number or boolean, the text itself, or '' for everything that is neither. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : ''
  return typeof value === 'boolean' ? String(value) : ''
}

/** As `scalarText`, with null for what is empty: an account that is not named. */
export function scalarOrNull(value: unknown): string | null {
  return scalarText(value) || null
}

/** The object itself, or an empty one when the value is none. */
export function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/**
 * Returns the object's first keys, up to the limit of an event. Parameters of a batch are copied into each of its
 * events, so a hostile batch must not be wide.
 */
export function sharedOf(source: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).slice(0, MAX_PARAMS))
}

/** Returns the objects in a list; empty for other values. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A query string, with or without its `?`, or a form body. A key that comes again keeps its first value under its own
 * name, the others follow as `key.1`, `key.2`, … A part with malformed percent-encoding stays as it was sent. `params`: those
 * that it follows.
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

/** Adds to the parameters without replacing any: what is there already is followed by `key.1`, `key.2`, … */
export function pairCollector<Value>(params: Record<string, Value>): (key: string, value: Value) => void {
  let repeats: Map<string, number> | null = null
  return (key, value) => {
    if (!(key in params)) {
      params[key] = value
      return
    }
    repeats ??= new Map()
    let repeat = (repeats.get(key) ?? 0) + 1
    // A parameter may have been sent under that very name.
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

/** The fields of a body that is a form, urlencoded or multipart; files in it are left out. */
export function readForm(body: string): Params {
  return isMultipart(body) ? readMultipart(body) : readQuery(body.trim())
}

/** Whether a body begins as a form does. Others can contain addresses whose parameters would be read as fields. */
export function isForm(body: string | null): body is string {
  return body !== null && (/^[\w.[\]%+-]+=/.test(body) || isMultipart(body))
}

/**
 * Mark (`Route.mark`) of requests that have all of these parameters, each in the query or in a form.
 * @param pairs sources of patterns, such as `tid=UA-\\d`
 */
export function formMark(...pairs: string[]): RegExp {
  const all = pairs.map((pair) => `(?=.*[?&]${pair}|.*\\n(?:[\\s\\S]*&)?${pair})`).join('')
  return new RegExp(`^(?=.*\\n(?:$|[\\w.[\\]%+-]+=))${all}`)
}

function isMultipart(body: string): boolean {
  return body.startsWith('--') && body.includes('form-data')
}

/** https://www.rfc-editor.org/rfc/rfc7578: the first line is the boundary, each part is headers, an empty line, text. */
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

/** Browsers escape three characters in a field's name: https://html.spec.whatwg.org/#multipart-form-data */
function formName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

/** Throws, with a message that quotes nothing of the text, when it is missing or no JSON object. */
export function readJsonObject(text: string | null): Record<string, unknown> {
  if (!text) throw new Error('the body is missing')
  const value = parseJson(text)
  if (!isObject(value)) throw new Error('the body is not a JSON object')
  return value
}

function parseJson(text: string): unknown {
  try {
    return parsed(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error('the body is not JSON')
    throw error
  }
}

/** The lines that are not blank. A multipart form has none: the name of a field and its value are on different lines. */
export function readLines(body: string): string[] {
  return isMultipart(body) ? [] : body.split('\n').filter((line) => line.trim() !== '')
}
