import { createHmac, randomBytes } from 'node:crypto'
import { HOUR_MS, type Instant } from '../../../core/clock.ts'
import { AppError, atField } from '../../../core/error.ts'
import { Closed, parser, Text, Type } from '../../../core/schema.ts'
import type { Message, MessageKind } from '../../message/message.ts'
import { outcomeOf } from '../../outcome.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'
import type { HttpOutbound } from '../../transport/transport.ts'
import { provider } from '../provider.ts'

export interface WebhookConfig {
  url: string
  /** `whsec_` and the base64 of 24 to 64 bytes. */
  secret: string
}

const WebhookConfigSchema = Closed(
  {
    url: Text(1, 2000, {
      title: 'Address',
      description: 'Where messages are posted to, by https',
      examples: ['https://hooks.example.com/tags'],
    }),
    secret: Type.Optional(
      Type.String({
        maxLength: 200,
        title: 'Signing secret',
        description: 'whsec_ and the base64 of 24 to 64 bytes; made when left out',
      }),
    ),
  },
  { $id: 'WebhookConfig' },
)

const TYPES: Record<MessageKind, string> = {
  opened: 'issue.opened',
  reopened: 'issue.reopened',
  repeated: 'issue.repeated',
  resolved: 'issue.resolved',
  test: 'test',
  delivery_failed: 'delivery.failed',
}

const PREFIX = 'whsec_'
const newSecret = () => PREFIX + randomBytes(32).toString('base64')

/** How long a secret signs beside the one that replaced it. */
const ROTATION_MS = 24 * HOUR_MS
/** Of secrets that were replaced within that time. */
const MAX_FORMER = 4

/** What was replaced and signs still. */
export interface WebhookTokens {
  former: { secret: string; until: Instant }[]
}

/** The bytes behind a secret; null when it is not spelled as Standard Webhooks says. */
function keyOf(secret: string): Buffer | null {
  const text = secret.slice(PREFIX.length)
  const key = Buffer.from(text, 'base64')
  // Buffer skips what is not base64: only text that comes back the same is what it seems to be.
  const same = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  return secret.startsWith(PREFIX) && same && key.length >= 24 && key.length <= 64 ? key : null
}

/**
 * `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined with dots.
 * Source: Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks
 * @param sentAtS seconds since the epoch of this attempt
 * @throws AppError `invalid` when the secret is not one; it is not repeated.
 */
export function signature(secret: string, id: string, sentAtS: number, body: string): string {
  const key = keyOf(secret)
  if (!key) throw new AppError('invalid', `the signing secret is not ${PREFIX} and the base64 of 24 to 64 bytes`)
  return `v1,${createHmac('sha256', key).update(`${id}.${sentAtS}.${body}`).digest('base64')}`
}

/** What receivers get: below 20 kB, the same bytes for every attempt. `timestamp` is when it was decided to tell. */
export function webhookBody(message: Message): string {
  const { issue, alert, domain, vendor, event, observed, expected, sample, openNow, heldBack, sentence, url } = message
  const { changes = [] } = message
  return JSON.stringify({
    type: TYPES[message.kind],
    timestamp: new Date(message.at).toISOString(),
    data: {
      issue: issue && { ...issue, summary: sentence, vendor, event, observed, expected, heldBack, openNow, changes },
      alert,
      domain,
      sample,
      url,
    },
  })
}

const parse = parser(WebhookConfigSchema)

/** The one request of a delivery: signed at the time of this attempt, with the `former` secrets too. */
export function webhookRequest(
  message: Message,
  { url, secret }: WebhookConfig,
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

/** Completes what was configured; a missing secret is made. Fails with `invalid`, naming the field. */
export function prepareWebhook(input: object, guard: AddressGuard): WebhookConfig {
  const { url, secret = newSecret() } = parse(input, 'config')
  atField('config.url', () => guard.checkUrl(url))
  if (!keyOf(secret)) throw new AppError('invalid', `config.secret: must be ${PREFIX} and the base64 of 24 to 64 bytes`)
  return { url, secret }
}

/** Signed JSON by POST, after Standard Webhooks 1.0.0. */
export const webhook = provider<WebhookConfig, unknown, WebhookTokens>({
  type: 'webhook',
  title: 'Webhook',
  help: 'Posts each message as signed JSON to a program of yours, after Standard Webhooks.',
  omitsHistory: true,
  connect: { by: 'secret', fields: ['secret'] },
  derivedSecrets: ({ url }) => [url],
  configured: { schema: WebhookConfigSchema, prepare: prepareWebhook },
  addresses: {
    target: Text(1, 2000, {
      title: 'Address',
      description: 'An https address; what is posted there is signed with the secret of the organization',
      examples: ['https://hooks.example.com/tags'],
    }),
    check(target, guard) {
      guard.checkUrl(target)
    },
    settingsOf: (target, org) => ({ url: target, secret: org.webhookSecret() }),
  },
  async deliver(context, message) {
    const { settings, tokens, deliveryId, integrationId } = context
    const at = context.now()
    const former = stillSigning(tokens, at).map(({ secret }) => secret)
    const outbound = webhookRequest(message, settings, { deliveryId, at, former })
    const reply = await context.send(outbound)
    const outcome = outcomeOf(outbound, reply, context.now())
    // Gone, as Standard Webhooks says it: the receiver wants no more.
    const isGone = outcome.verdict === 'broken' && reply.kind === 'status' && reply.status === 410
    return isGone && integrationId !== null ? { ...outcome, status: 'disabled' } : outcome
  },
  rotate(settings, tokens, now) {
    const secret = newSecret()
    const former = [{ secret: settings.secret, until: now + ROTATION_MS }, ...stillSigning(tokens, now)]
    return { settings: { ...settings, secret }, tokens: { former: former.slice(0, MAX_FORMER) }, secret }
  },
})

const stillSigning = ({ former = [] }: Partial<WebhookTokens>, now: Instant) =>
  former.filter(({ until }) => until > now)
