import { SECOND_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import type { HttpOutbound } from '../../../transport/transport.ts'
import type { Message } from '../../message/message.ts'
import type { ChatText, Markup } from './chat-text.ts'

/** Where a message is sent. `secret` is empty if the integration has none. */
export interface Destination {
  url: string
  secret: string
}

/** Use of the setting `secret`. `name` is a noun without an article: `integration key`. */
type SecretRule = { use: 'none' } | { use: 'optional' | 'required'; name: string; pattern: RegExp }

/** An error that a product reports in the body of its response. */
interface ProductError {
  message: string
  /** True if the receiver no longer exists. This disables the integration. */
  isGone: boolean
  /** Requested delay in ms until the next request. Null if the body contains none. */
  waitMs: number | null
}

/** Response of a product. */
interface ProductAnswer {
  status: number
  /** The parsed body. Empty unless it is a JSON object. */
  body: Readonly<Record<string, unknown>>
}

interface FormatBase {
  /** Value of `config.format`. */
  name: string
  title: string
  /** URL of the product's own description of these requests. */
  reference: string
  secret: SecretRule
  /** Fails with `invalid` if the URL can't be one of the product's. The message follows the field name: `must …`. */
  checkUrl(url: URL): void
  /** Minimum interval between two requests with the same URL and secret, from the product's rate limit. */
  intervalMs: number
  /** Reads the product's own error, which can also be in a 2xx response. Null if there is none. */
  errorIn(answer: ProductAnswer): ProductError | null
}

/** A chat, where each message is read by people. Several openings are sent as one message. */
export interface ChatFormat extends FormatBase {
  shows: 'messages'
  markup: Markup
  /** Maximum length of `ChatText.text`, in the unit of the markup. */
  maxLength: number
  post(content: ChatText, to: Destination): HttpOutbound
}

export type IncidentAction = 'trigger' | 'acknowledge' | 'resolve'

/** An incident and what happens to it. */
export interface IncidentEvent {
  action: IncidentAction
  /** Identifies the incident in the product. At most 60 ASCII letters, digits, `_` and `-`. */
  key: string
  /** Describes the incident. A test has no issue. */
  message: Message
}

/** A product that has an incident for each issue and follows its status. */
export interface IncidentFormat extends FormatBase {
  shows: 'incidents'
  /** Updates the incident, or opens it if `trigger` finds no open incident with the key. */
  request(event: IncidentEvent, to: Destination): HttpOutbound
}

export type WebhookFormat = ChatFormat | IncidentFormat

/** A POST request with a JSON body. */
export function postJson(url: string, body: object, headers: Record<string, string> = {}): HttpOutbound {
  return {
    kind: 'http',
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Tagwarden', ...headers },
    body: JSON.stringify(body),
  }
}

/** Checks path and query of a URL. `example` completes the message. */
export function requireUrl({ pathname, search }: URL, pattern: RegExp, example: string): void {
  if (!pattern.test(pathname + search)) throw new AppError('invalid', `must be a URL such as ${example}`)
}

/**
 * Returns the error with a message from a response. Null if the message is not a string.
 * @param waitS Requested delay in seconds. Ignored unless it is a number.
 */
export function productError(message: unknown, isGone = false, waitS: unknown = null): ProductError | null {
  if (typeof message !== 'string') return null
  return { message, isGone, waitMs: typeof waitS === 'number' ? Math.ceil(waitS * SECOND_MS) : null }
}
