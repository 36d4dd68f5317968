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
 * An expected refusal. The caller sees the message unchanged: one sentence that says what is wrong and where
 * (`alerts[3].period: …`), without SQL, stack or server paths. Anything else that is thrown is a bug.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds after which a retry may succeed; sent as `Retry-After`. */
    readonly retryAfterS?: number,
  ) {
    super(message)
  }
}

/** Returns what `check` returns; before the message of its refusal comes the field that it is about: `config.url: must be …`. */
export function atField<T>(field: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.code, `${field}: ${error.message}`, error.retryAfterS)
    throw error
  }
}

/** Returns the message of any thrown value, for logs and ledgers. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
