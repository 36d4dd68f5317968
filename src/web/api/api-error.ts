/** What the server refused, or that it could not be reached. */
export class ApiError extends Error {
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
export const isTransient = ({ status }: ApiError): boolean => status === 0 || status === 429 || status >= 500

/** The sentence to show for whatever was thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What the server refused: the sentence, and the field that it begins with; null when it is about none of them. */
export interface FieldError {
  field: string | null
  sentence: string
}

/** `email: is no address` names the field; `conditions.items[0].values: …` names it by its path. */
export function fieldErrorFor(fields: readonly string[], sentence: string): FieldError {
  const [, path = '', rest = ''] = /^`?([\w.[\]-]+)`?:? (.+)$/s.exec(sentence) ?? []
  const field = fields.find((name) => name === path) ?? fields.find((name) => path.startsWith(`${name}[`)) ?? null
  return field === null ? { field: null, sentence } : { field, sentence: rest }
}
