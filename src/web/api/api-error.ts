/** An error returned by the API, or a failure to reach it. */
export class ApiError extends Error {
  override name = 'Refusal'

  constructor(
    /** The API's error message. */
    message: string,
    /** The HTTP status; 0 when there was no response. */
    readonly status: number,
    /** Seconds to wait before retrying (`Retry-After`); null without one. */
    readonly retryAfterS: number | null,
    /** True when the sign-in also needs the code of a second factor. */
    readonly needsCode = false,
  ) {
    super(message)
  }
}

/** True for errors that may disappear on a retry: no response, 429 and 5xx. */
export const isTransient = ({ status }: ApiError): boolean => status === 0 || status === 429 || status >= 500

/** Returns the message to show for any thrown value. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * An error message without its field prefix. `field` is the name of that form field; null when the message does not
 * start with one.
 */
export interface FieldError {
  field: string | null
  sentence: string
}

/** Separates a message from the form field that it starts with: `email: …` or `conditions.items[0].values: …`. */
export function fieldErrorFor(fields: readonly string[], sentence: string): FieldError {
  const [, path = '', rest = ''] = /^`?([\w.[\]-]+)`?:? (.+)$/s.exec(sentence) ?? []
  const field = fields.find((name) => name === path) ?? fields.find((name) => path.startsWith(`${name}[`)) ?? null
  return field === null ? { field: null, sentence } : { field, sentence: rest }
}
