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
    private readonly findFaults?: () => readonly string[],
  ) {
    super(message)
  }

  /**
   * Everything that is wrong with the input, a sentence for each field; first the message. Finding more than the message
   * takes time in proportion to the input.
   */
  get faults(): readonly string[] {
    const faults = [this.message, ...(this.findFaults?.() ?? [])]
    const fieldOf = (fault: string) => fault.split(': ', 1)[0]
    return faults.filter((fault, index) => faults.findIndex((other) => fieldOf(other) === fieldOf(fault)) === index)
  }

  /** Returns the same refusal with a path before the field that each fault names. */
  at(path: string): AppError {
    const placed = (fault: string) => `${path}${fault}`
    return new AppError(this.code, placed(this.message), this.retryAfterS, () => this.faults.map(placed))
  }
}

/** Runs all checks. Throws the first refusal with code `invalid`, with the faults of all; anything else at once. */
export function checkAll(checks: Iterable<() => void>): void {
  const refusals: AppError[] = []
  for (const check of checks) {
    try {
      check()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid') throw error
      refusals.push(error)
    }
  }
  const [first] = refusals
  if (!first) return
  throw new AppError('invalid', first.message, undefined, () => refusals.flatMap(({ faults }) => faults))
}

/** Returns what `check` returns; before the message of its refusal comes the field that it is about: `config.url: must be …`. */
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
