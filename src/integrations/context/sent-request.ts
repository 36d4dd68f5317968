import { maskPersonal } from '../../conditions/mask-personal-data.ts'
import { Closed, Int, Nullable, type Static, Type } from '../../core/schema.ts'
import { cutText } from '../../core/text.ts'
import type { Outbound, Reply } from '../../transport/transport.ts'

/** Maximum number of characters stored of a request body. */
const MAX_BODY_LENGTH = 4000
/** Maximum number of characters stored of a response body. */
const MAX_RESPONSE_LENGTH = 2000
/** Maximum number of requests stored per attempt, counted from the most recent one. */
export const MAX_REQUESTS = 10
const MASK = '***'

export const SentRequestSchema = Closed(
  {
    method: Type.String({ description: 'HTTP method; `SMTP` for an e-mail' }),
    target: Type.String({
      description:
        'URL or e-mail addresses. Queries, paths of URLs that are secret, and addresses are masked with `***`',
    }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers; values that may be secret are `***`',
    }),
    body: Type.String({ description: `At most ${MAX_BODY_LENGTH} characters; \`***\` for requests for tokens` }),
    bodyLength: Int({ description: 'Length of the whole body in characters' }),
    durMs: Int({ description: 'Time until the response was read, in ms' }),
    status: Nullable(Int({ description: 'Status of the response; null without a response' })),
    response: Type.String({
      description: `At most ${MAX_RESPONSE_LENGTH} characters of the response, or the reason why there was none`,
    }),
  },
  { $id: 'SentRequest', description: 'A request of an attempt and its response, with secrets replaced by `…`' },
)
export type SentRequest = Static<typeof SentRequestSchema>

/** A request as it was sent. */
export interface Exchange {
  outbound: Outbound
  reply: Reply
  durMs: number
  /** True for a request for tokens, whose bodies are secret. */
  isSecret: boolean
}

interface Redaction {
  /** Replaces the secrets in a text. */
  clean(text: string): string
  /** True for the origin of a URL that is itself a secret. */
  isSecretOrigin(origin: string): boolean
}

/** Headers whose values are stored. The values of all others are masked. */
const SHOWN_HEADERS = [
  'accept',
  'content-type',
  'idempotency-key',
  'message-id',
  'subject',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
]

/** Returns a request and its response for the delivery log. */
export function describeExchange({ outbound, reply, durMs, isSecret }: Exchange, redaction: Redaction): SentRequest {
  const { clean } = redaction
  const body = outbound.kind === 'mail' ? outbound.text : outbound.body
  const response = reply.kind === 'error' ? reply.message : isSecret ? MASK : clean(reply.body)
  return {
    method: outbound.kind === 'mail' ? 'SMTP' : outbound.method,
    target: targetOf(outbound, redaction),
    headers: headersOf(outbound, clean),
    body: isSecret ? MASK : cutText(clean(body), MAX_BODY_LENGTH),
    bodyLength: body.length,
    durMs,
    status: reply.kind === 'error' ? null : reply.status,
    response: cutText(response, MAX_RESPONSE_LENGTH),
  }
}

function targetOf(outbound: Outbound, { clean, isSecretOrigin }: Redaction): string {
  if (outbound.kind === 'mail') return maskPersonal(outbound.to.join(', '))
  const url = URL.parse(outbound.url)
  if (!url) return MASK
  if (isSecretOrigin(url.origin)) return `${url.origin}/${MASK}`
  return `${url.origin}${clean(url.pathname)}${url.search === '' ? '' : `?${MASK}`}`
}

function headersOf(outbound: Outbound, clean: (text: string) => string): Record<string, string> {
  const all: Readonly<Record<string, string>> =
    outbound.kind === 'mail' ? { ...outbound.headers, subject: outbound.subject } : outbound.headers
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [
      name.toLowerCase(),
      SHOWN_HEADERS.includes(name.toLowerCase()) ? clean(value) : MASK,
    ]),
  )
}
