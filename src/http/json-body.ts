import { AppError } from '../core/error.ts'
import { MAX_DEPTH, readJsonInSteps } from './parse-json-in-steps.ts'
import { receiveBytes, receiveText } from './read-body.ts'

/** Maximum body size: enough for 500 typical alerts, or for a domain with its image. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Longer strings are parsed in steps. Parsing a string of this length takes a few milliseconds at most. */
const LONG_TEXT = 64 * 1024

/**
 * Throws `invalid` for valid JSON that can't be processed: JSON nested too deeply, or strings with NUL or lone
 * surrogates. Neither SQLite nor DuckDB stores such strings unchanged, so a later comparison would fail.
 */
export function checkJson(value: unknown, path = '', depth = 0): void {
  // Paths are built only for rejected values, because building them for 4,000,000 numbers would take seconds.
  if (depth === 0 && isAccepted(value, 0)) return
  if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) {
    throw new AppError('invalid', `${path || 'body'}: contains a NUL character or an unpaired surrogate`)
  }
  if (typeof value !== 'object' || value === null) return
  if (depth === MAX_DEPTH) throw new AppError('invalid', `body: is nested more than ${MAX_DEPTH} levels deep`)
  for (const [key, item] of Object.entries(value)) {
    checkJson(key, path)
    checkJson(item, Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key, depth + 1)
  }
}

function isAccepted(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (depth === MAX_DEPTH) return false
  if (Array.isArray(value)) return value.every((item) => isAccepted(item, depth + 1))
  for (const key in value) {
    if (!isAccepted(key, depth) || !isAccepted((value as Record<string, unknown>)[key], depth + 1)) return false
  }
  return true
}

/**
 * Returns the body parsed as JSON; undefined without a body. Throws `tooLarge` above `max` bytes, `unsupportedType` for
 * another content type, and `invalid` when the body is not valid JSON, is rejected by `checkJson`, is incomplete or
 * takes too long.
 */
export async function readJson(request: Request, max = MAX_BODY_BYTES): Promise<unknown> {
  const text = await receiveText(request, max)
  if (text === '') return undefined
  requireJsonType(request)
  return readJsonText(text)
}

/**
 * Parses JSON like `jsonOf`, but other requests are handled while a long string is being parsed. Throws the same
 * errors.
 */
export async function readJsonText(text: string): Promise<unknown> {
  return text.length > LONG_TEXT ? readJsonInSteps(text) : jsonOf(text)
}

/**
 * Returns the unparsed body of a JSON request. Throws the same errors as `readJson`, except those that require parsing.
 */
export async function readBytes(request: Request, max = MAX_BODY_BYTES): Promise<Uint8Array> {
  const bytes = await receiveBytes(request, max)
  if (bytes.length > 0) requireJsonType(request)
  return bytes
}

function requireJsonType({ headers }: Request): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new AppError('unsupportedType', 'content-type: must be application/json')
}

/** Parses JSON. Throws `invalid` when the JSON is malformed or `checkJson` rejects it. */
export function jsonOf(text: string): unknown {
  const value = parseJson(text)
  checkJson(value)
  return value
}

/** Parses JSON without `checkJson`. Throws `invalid` when the JSON is malformed. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError('invalid', 'body: is not valid JSON')
  }
}
