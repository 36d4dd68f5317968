import { AppError, messageOf } from '../core/error.ts'

const RETRY_AFTER_S = 5

/** The file system has no room, the file may not grow, or its owner may not store more; all end with room. */
const FULL = new Set(['ENOSPC', 'EFBIG', 'EDQUOT'])

/** What a sender is told when its batch could not be written: the system's own code, never a path of the server. */
export function storageRefusal(error: unknown): AppError {
  const { code } = error as { code?: string }
  const reason = code !== undefined && FULL.has(code) ? 'the disk is full' : (code ?? messageOf(error))
  return new AppError('unavailable', `the collector can't store: ${reason}`, RETRY_AFTER_S)
}
