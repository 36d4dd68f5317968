/** Error codes for callers. `http/status-codes.ts` maps each code to an HTTP status. */
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
 * An expected error. The caller sees the message unchanged. The message is one sentence that says what is wrong and
 * where (`alerts[3].period: …`), without SQL, stack traces or server paths. Any other thrown value is a bug.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds after which a retry may succeed; sent as `Retry-After`. */
    readonly retryAfterS?: number,
    private readonly findFaults?: () => readonly string[],
    /** Headers of the HTTP response, in addition to those that follow from the code. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }

  /**
   * All errors found in the input, one sentence per field, starting with `message`. Finding the other errors takes time
   * proportional to the size of the input.
   */
  get faults(): readonly string[] {
    const faults = [this.message, ...(this.findFaults?.() ?? [])]
    const fieldOf = (fault: string) => fault.split(': ', 1)[0]
    return faults.filter((fault, index) => faults.findIndex((other) => fieldOf(other) === fieldOf(fault)) === index)
  }

  /** Returns the same error with the path prepended to the field in each fault. */
  at(path: string): AppError {
    const prefixed = (fault: string) => `${path}${fault}`
    return new AppError(this.code, prefixed(this.message), this.retryAfterS, () => this.faults.map(prefixed))
  }
}

/**
 * Runs all checks, then throws the first `invalid` error, which includes the faults of all failed checks. Any other
 * error is thrown immediately.
 */
export function checkAll(checks: Iterable<() => void>): void {
  const errors: AppError[] = []
  for (const check of checks) {
    try {
      check()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid') throw error
      errors.push(error)
    }
  }
  const [first] = errors
  if (!first) return
  throw new AppError('invalid', first.message, undefined, () => errors.flatMap(({ faults }) => faults))
}

/**
 * Returns the result of `check`. If it throws an `AppError`, prepends the field to the message: `config.url: must be
 * …`.
 */
export function atField<T>(field: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw error instanceof AppError ? error.at(`${field}: `) : error
  }
}

/** Returns the result of `find`; null when `find` throws `notFound`. */
export function orNull<T>(find: () => T): T | null {
  try {
    return find()
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') return null
    throw error
  }
}

/** Returns the message of any thrown value, for use in logs and ledgers. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
