import type { HttpOutbound } from '../../../transport/transport.ts'
import type { Message } from '../../message/message.ts'
import type { StatusChange } from '../provider-context.ts'

/** Where a message is sent. `secret` is empty if the integration has none. */
export interface Destination {
  url: string
  secret: string
}

/** Use of the setting `secret`. `name` completes the phrase `enter the …`: `integration key`. */
type SecretRule = { use: 'none' } | { use: 'optional' | 'required'; name: string }

interface FormatBase {
  /** Value of `config.format`. */
  name: string
  title: string
  /** URL of the product's own description of these requests. */
  reference: string
  secret: SecretRule
  /** Fails with `invalid` if the URL can't be one of the product's. The message follows the field name: `must …`. */
  checkUrl(url: URL): void
  /** Minimum interval between two requests to the same URL, from the product's rate limit. */
  intervalMs: number
  /** Statuses which mean that the receiver no longer exists. They disable the integration. */
  goneStatuses: readonly number[]
  /** Returns the reason for a rejection that has a 2xx status. Null if the body reports none. */
  rejectionIn(body: string): string | null
}

/** A chat, where each message is read by people. Several openings are sent as one message. */
export interface ChatFormat extends FormatBase {
  shows: 'messages'
  render(message: Message, to: Destination): HttpOutbound
  /** Lists the first `MAX_NAMED` issues and counts the others. Receives at least two. */
  renderGroup(issues: readonly { readonly message: Message }[], to: Destination): HttpOutbound
}

/** A product that has an incident for each issue and follows its status. */
export interface IncidentFormat extends FormatBase {
  shows: 'incidents'
  /** Opens, updates or resolves the incident. A `test` has no issue and opens a separate incident. */
  render(message: Message, to: Destination): HttpOutbound
  /** Closes the incident that a test has opened, so that nobody is woken. */
  renderTestEnd(message: Message, to: Destination): HttpOutbound
  /** Shows a status that a user has set. */
  renderStatus(change: StatusChange, to: Destination): HttpOutbound
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

/** For formats whose product reports every rejection by its status. */
export const noRejection = (): null => null
