/** Errors that a caller can act on. `http/status.ts` maps each code to a status. */
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
 * An expected error. The caller sees the message unchanged: one sentence with what is wrong and where
 * (`alerts[3].period: …`), without SQL, stack traces or server paths. Anything else that is thrown is a bug.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds after which a retry may succeed; sent as `Retry-After`. */
    readonly retryAfterS?: number,
    private readonly findFaults?: () => readonly string[],
  ) {
    super(message)
  }

  /**
   * Everything that is wrong with the input, one sentence per field, the message first. Finding the others takes time
   * proportional to the input.
   */
  get faults(): readonly string[] {
    const faults = [this.message, ...(this.findFaults?.() ?? [])]
    const fieldOf = (fault: string) => fault.split(': ', 1)[0]
    return faults.filter((fault, index) => faults.findIndex((other) => fieldOf(other) === fieldOf(fault)) === index)
  }

  /** Returns the same error with the path prepended to the field of each fault. */
  at(path: string): AppError {
    const prefixed = (fault: string) => `${path}${fault}`
    return new AppError(this.code, prefixed(this.message), this.retryAfterS, () => this.faults.map(prefixed))
  }
}

/** Runs all checks, then throws the first `invalid` error with the faults of all. Any other error is thrown at once. */
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

/** Returns what `check` returns. Prepends the field to the message of an `AppError`: `config.url: must be …`. */
export function atField<T>(field: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw error instanceof AppError ? error.at(`${field}: `) : error
  }
}

/** Returns the message of any thrown value, for logs and ledgers. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
