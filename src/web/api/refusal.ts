/** What the server refused, or that it could not be reached. */
export class Refusal extends Error {
  override name = 'Refusal'

  constructor(
    /** The server's sentence, word for word. */
    message: string,
    /** The HTTP status; 0 when there was no answer. */
    readonly status: number,
    /** Seconds after which to ask again; null when the server did not say. */
    readonly retryAfterS: number | null,
  ) {
    super(message)
  }
}

/** True when asking again later can help: no answer, too many requests, a server that can't answer now. */
export const isPassing = ({ status }: Refusal): boolean => status === 0 || status === 429 || status >= 500

/** The sentence to show for whatever was thrown. */
export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
