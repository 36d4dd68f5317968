import type { ErrorCode } from '../core/error.ts'

/** HTTP status of each error code. */
export const STATUS: Record<ErrorCode, number> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  tooLarge: 413,
  unsupportedType: 415,
  rateLimited: 429,
  upstream: 502,
  unavailable: 503,
}
