import { AppError } from '../core/error.ts'
import { receiveText } from './arrival.ts'

/** What a request may send: 500 alerts of a usual size, or a domain with its picture, with room to spare. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** No schema goes half as deep, and TypeBox walks by recursion, which ends somewhere. */
const MAX_DEPTH = 50

/**
 * Refuses what fits JSON and still can't be worked with: what is nested too deeply, and texts that neither SQLite nor
 * the engine keeps as they are, so that compared later they would not be equal.
 */
export function checkJson(value: unknown, path = '', depth = 0): void {
  if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) {
    throw new AppError('invalid', `${path || 'body'}: has a NUL character or half of a surrogate pair`)
  }
  if (typeof value !== 'object' || value === null) return
  if (depth === MAX_DEPTH) throw new AppError('invalid', `body: is nested more than ${MAX_DEPTH} levels deep`)
  for (const [key, item] of Object.entries(value)) {
    checkJson(key, path)
    checkJson(item, Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key, depth + 1)
  }
}

/**
 * The body, of `max` bytes at most, as JSON; undefined when there is none. Fails with `tooLarge`, `unsupportedType` or, for what is no JSON, what
 * `checkJson` refuses and what does not arrive whole and in time, `invalid`.
 */
export async function readJson(request: Request, max = MAX_BODY_BYTES): Promise<unknown> {
  const text = await receiveText(request, max)
  if (text === '') return undefined
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new AppError('unsupportedType', 'content-type: must be application/json')
  return jsonOf(text)
}

/** Fails with `invalid` for what is no JSON, and for what `checkJson` refuses. */
export function jsonOf(text: string): unknown {
  const value = parseJson(text)
  checkJson(value)
  return value
}

/** Fails with `invalid` for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError('invalid', 'body: is not valid JSON')
  }
}
