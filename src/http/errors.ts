import { type Elysia, ParseError, ValidationError } from 'elysia'
import { AppError } from '../core/error.ts'
import { describeError } from '../core/schema.ts'
import { STATUS } from './status.ts'

/** The only shape of an error body. */
export function errorResponse(error: AppError): Response {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (error.code === 'unauthorized') headers.set('www-authenticate', 'Bearer')
  if (error.retryAfterS !== undefined) headers.set('retry-after', String(error.retryAfterS))
  return new Response(JSON.stringify({ error: error.message }), { status: STATUS[error.code], headers })
}

/** Elysia's own error quotes the whole answer, which does not belong into a log. */
function bugOf(error: unknown): unknown {
  if (!(error instanceof ValidationError)) return error
  const { path, message } = error.valueError ?? {}
  return new Error(`the answer does not fit its schema at ${path}: ${message}`)
}

const RETRY_AFTER_S = 30

/** https://www.sqlite.org/rescode.html#full; a write that fails half-way shows as an I/O error. */
function isFullDisk(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_WRITE'
}

/** What a throw in a route means to its caller; null for a bug. */
function refusalOf(error: unknown, code: string | number, url: string): AppError | null {
  if (error instanceof AppError) return error
  // An answer that does not fit its own schema is our bug, whoever asked.
  if (error instanceof ValidationError) return error.type === 'response' ? null : refusalOfValidation(error, url)
  if (isFullDisk(error)) return new AppError('unavailable', 'the disk is full', RETRY_AFTER_S)
  if (error instanceof ParseError) {
    // Elysia wraps whatever is thrown while a body is read.
    return error.cause instanceof AppError ? error.cause : new AppError('invalid', 'body: is not valid JSON')
  }
  if (code === 'INVALID_FILE_TYPE') return new AppError('unsupportedType', 'body: must be application/json')
  if (code === 'NOT_FOUND') return new AppError('notFound', 'no such route')
  return null
}

function refusalOfValidation({ type, value, valueError }: ValidationError, url: string): AppError {
  if (type === 'property') {
    // Elysia's conversion of numbers in a query doesn't say which field it was at.
    const field = [...new URL(url).searchParams].find(([, text]) => text !== '' && Number(text) === Number(value))?.[0]
    return new AppError('invalid', `query${field ? `.${field}` : ''}: ${valueError?.message ?? 'is out of its limits'}`)
  }
  const where = type === 'query' ? 'query' : type === 'params' ? 'path' : ''
  return new AppError(
    'invalid',
    valueError ? describeError(valueError, where) : `${where || 'body'}: does not fit its schema`,
  )
}

/** Answers every throw below `app` as `{"error"}`. A bug becomes a 500 that says nothing and goes to `report`. */
export function answerErrors(app: Elysia, report: (error: unknown, route: string) => void): Elysia {
  return app.onError(({ error, code, path, request }) => {
    const refusal = refusalOf(error, code, request.url)
    if (refusal) return errorResponse(refusal)
    report(bugOf(error), `${request.method} ${path}`)
    return new Response(JSON.stringify({ error: 'internal error; the log of the server says more' }), {
      status: 500,
      headers: { 'content-type': 'application/json' },
    })
  }) as unknown as Elysia
}
