import { AppError, messageOf } from '../core/error.ts'

const RETRY_AFTER_S = 5

/** Errors that are resolved by freeing space: full file system, file size limit, quota. */
const FULL = new Set(['ENOSPC', 'EFBIG', 'EDQUOT'])

/** Returns the error for a sender whose batch could not be written. It contains the system's error code but no path. */
export function storageError(error: unknown): AppError {
  const { code } = error as { code?: string }
  const reason = code !== undefined && FULL.has(code) ? 'the disk is full' : (code ?? messageOf(error))
  return new AppError('unavailable', `the collector cannot store events: ${reason}`, RETRY_AFTER_S)
}
