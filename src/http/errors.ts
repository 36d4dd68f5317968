import type { Elysia } from 'elysia'
import { AppError } from '../core/error.ts'
import { API_HEADERS } from './headers.ts'
import { STATUS } from './status.ts'

function errorBody(status: number, message: string, more: Record<string, string> = {}): Response {
  const headers = { ...API_HEADERS, 'content-type': 'application/json', ...more }
  return new Response(JSON.stringify({ error: message }), { status, headers })
}

/** Returns the response of a refusal: `{"error": message}` with its status, and `retry-after` if it has one. */
export function errorResponse({ code, message, retryAfterS }: AppError): Response {
  return errorBody(STATUS[code], message, {
    ...(code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
  })
}

/** Returns the response to an unexpected error: 500, without details. */
export function bugResponse(): Response {
  return errorBody(500, 'internal error; the log of the server says more')
}

const RETRY_AFTER_S = 30

/** https://www.sqlite.org/rescode.html#full; a write that fails half-way is reported as an I/O error. */
function isFullDisk(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_WRITE'
}

/** Returns the refusal that a thrown value means to the caller; null for a bug. */
export function refusalOf(error: unknown): AppError | null {
  if (error instanceof AppError) return error
  if (isFullDisk(error)) return new AppError('unavailable', 'the disk is full', RETRY_AFTER_S)
  return null
}

/**
 * Answers every error thrown in `app` as `{"error"}`. A bug becomes a 500 without details, and is passed to `report`.
 * Where there is no route `missing` may answer instead.
 */
export function answerErrors(
  app: Elysia,
  report: (error: unknown, route: string) => void,
  missing: (request: Request) => Promise<Response> | null = () => null,
): Elysia {
  return app.onError(({ error, code, path, request }) => {
    if (code === 'NOT_FOUND') return missing(request) ?? errorResponse(new AppError('notFound', 'no such route'))
    const refusal = refusalOf(error)
    if (refusal) return errorResponse(refusal)
    report(error, `${request.method} ${path}`)
    return bugResponse()
  }) as unknown as Elysia
}
