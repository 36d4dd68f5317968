/** What went wrong, in terms a caller can act on. `http/status.ts` maps each code to one status. */
export type ErrorCode =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'tooLarge'
  | 'unsupportedType'
  | 'rateLimited'
  | 'upstream'
  | 'unavailable'

/**
 * An expected refusal. The message is shown to the caller as it stands: one sentence that says what is wrong and
 * where (`alerts[3].period: …`), without SQL, stack or server paths. Anything else that is thrown is a bug.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds after which a repeat may succeed; sent as `Retry-After`. */
    readonly retryAfterS?: number,
  ) {
    super(message)
  }
}

/** The message of whatever was thrown, for logs and ledgers. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
