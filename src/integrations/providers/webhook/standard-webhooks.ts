import { createHmac, randomBytes } from 'node:crypto'
import type { Instant } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import type { HttpOutbound } from '../../../transport/transport.ts'
import type { Message, MessageKind } from '../../message/message.ts'

const TYPES: Record<MessageKind, string> = {
  opened: 'issue.opened',
  reopened: 'issue.reopened',
  repeated: 'issue.repeated',
  resolved: 'issue.resolved',
  test: 'test',
  delivery_failed: 'delivery.failed',
  assigned: 'issue.assigned',
  mentioned: 'issue.mentioned',
}

const PREFIX = 'whsec_'

/** Describes the format of a signing secret, after `must be`. */
export const SECRET_FORMAT = `${PREFIX} followed by 24 to 64 bytes in base64`

export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

export const isSigningSecret = (secret: string): boolean => keyOf(secret) !== null

/** The key encoded in a secret. Null if the secret does not have the format of Standard Webhooks. */
function keyOf(secret: string): Buffer | null {
  const text = secret.slice(PREFIX.length)
  const key = Buffer.from(text, 'base64')
  // `Buffer` ignores invalid base64, so the decoded key is encoded again and compared.
  const same = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  return secret.startsWith(PREFIX) && same && key.length >= 24 && key.length <= 64 ? key : null
}

/**
 * Returns `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined with dots.
 * Source: Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks
 * @param sentAtS Time of this attempt, in seconds since the epoch.
 * @throws AppError `invalid` if the secret is malformed. The message does not contain the secret.
 */
export function signature(secret: string, id: string, sentAtS: number, body: string): string {
  const key = keyOf(secret)
  if (!key) throw new AppError('invalid', `the signing secret must be ${SECRET_FORMAT}`)
  return `v1,${createHmac('sha256', key).update(`${id}.${sentAtS}.${body}`).digest('base64')}`
}

/**
 * Body of a request. It is smaller than 20 kB and has the same bytes for every attempt. `timestamp` is the time of the
 * event.
 */
export function webhookBody(message: Message): string {
  const { issue, alert, domain, vendor, event, observed, expected, sample, openNow, heldBack, sentence, url } = message
  const { changes = [], escalation, orderCapture } = message
  return JSON.stringify({
    type: TYPES[message.kind],
    timestamp: new Date(message.at).toISOString(),
    data: {
      issue: issue && {
        ...issue,
        summary: sentence,
        vendor,
        event,
        observed,
        expected,
        heldBack,
        openNow,
        changes,
        orderCapture,
      },
      alert,
      domain,
      sample,
      url,
      ...(escalation && { escalation }),
    },
  })
}

/** The request of an attempt, signed with the secret and with all `former` secrets. `at` is the time of the attempt. */
export function webhookRequest(
  message: Message,
  { url, secret }: { url: string; secret: string },
  { deliveryId, at, former = [] }: { deliveryId: string; at: Instant; former?: readonly string[] },
): HttpOutbound {
  const body = webhookBody(message)
  const sentAtS = Math.floor(at / 1000)
  return {
    kind: 'http',
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Tagwarden',
      'webhook-id': deliveryId,
      'webhook-timestamp': String(sentAtS),
      'webhook-signature': [secret, ...former].map((one) => signature(one, deliveryId, sentAtS, body)).join(' '),
    },
    body,
  }
}
