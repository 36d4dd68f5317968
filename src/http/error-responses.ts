import type { Elysia } from 'elysia'
import { AppError } from '../core/error.ts'
import { API_HEADERS } from './headers.ts'
import { requestIdOf } from './request-id.ts'
import { STATUS } from './status-codes.ts'

function errorBody(status: number, message: string, more: Record<string, string> = {}): Response {
  const headers = { ...API_HEADERS, 'content-type': 'application/json', ...more }
  return new Response(JSON.stringify({ error: message }), { status, headers })
}

/**
 * Returns the response for an error: `{"error": message}` with the matching status, and `retry-after` when the error
 * has one.
 */
export function errorResponse({ code, message, retryAfterS, headers }: AppError): Response {
  return errorBody(STATUS[code], message, {
    ...(code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
    ...headers,
  })
}

/** Returns the 500 response to an unexpected error, without details. */
export function bugResponse(): Response {
  return errorBody(500, 'internal error; see the server log')
}

const RETRY_AFTER_S = 30

/**
 * True when the disk is full (https://www.sqlite.org/rescode.html#full). A write that fails halfway is reported as an
 * I/O error.
 */
function isFullDisk(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_WRITE'
}

/** Returns the `AppError` to send for a thrown value; null for a bug. */
export function refusalOf(error: unknown): AppError | null {
  if (error instanceof AppError) return error
  if (isFullDisk(error)) return new AppError('unavailable', 'the disk is full', RETRY_AFTER_S)
  return null
}

/**
 * Returns an `{"error"}` response for every error thrown in `app`. For a bug, the status is 500 without details, and
 * the error is passed to `report`. For unknown routes, `missing` may return the response instead.
 */
export function answerErrors(
  app: Elysia,
  report: (error: unknown, route: string, requestId: string) => void,
  missing: (request: Request) => Promise<Response> | null = () => null,
): Elysia {
  return app.onError(({ error, code, path, request }) => {
    if (code === 'NOT_FOUND') return missing(request) ?? errorResponse(new AppError('notFound', 'no such route'))
    const refusal = refusalOf(error)
    if (refusal) return errorResponse(refusal)
    report(error, `${request.method} ${path}`, requestIdOf(request))
    return bugResponse()
  }) as unknown as Elysia
}
