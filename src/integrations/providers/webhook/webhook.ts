import { createHmac, randomBytes } from 'node:crypto'
import { CHANNEL_TITLES } from '../../../contract/products.ts'
import { HOUR_MS, type Instant } from '../../../core/clock.ts'
import { AppError, atField } from '../../../core/error.ts'
import { Closed, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../../transport/address-guard.ts'
import type { HttpOutbound } from '../../../transport/transport.ts'
import { type Outcome, outcomeOf } from '../../delivery-outcome.ts'
import type { Message, MessageKind } from '../../message/message.ts'
import { channel, noDetail, type Secrets, showsNoStatus } from '../channel.ts'
import { connector } from '../connector.ts'
import type { DeliveryContext } from '../provider-context.ts'

interface WebhookConfig {
  url: string
  /** `whsec_` followed by 24 to 64 bytes in base64. */
  secret: string
}

const WebhookConfigSchema = Closed(
  {
    url: Text(1, 2000, {
      title: 'URL',
      description: 'https URL that messages are posted to',
      examples: ['https://hooks.example.com/tags'],
    }),
    secret: Type.Optional(
      Type.String({
        maxLength: 200,
        title: 'Signing secret',
        description: '`whsec_` followed by 24 to 64 bytes in base64; generated if omitted',
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

/** Period during which a replaced secret is still used to sign. */
const ROTATION_MS = 24 * HOUR_MS
/** Maximum number of replaced secrets that are still used to sign. */
const MAX_FORMER = 4

/** Replaced secrets that are still used to sign. */
interface WebhookTokens {
  former: { secret: string; until: Instant }[]
}

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
  if (!key) throw new AppError('invalid', `the signing secret must be ${PREFIX} followed by 24 to 64 bytes in base64`)
  return `v1,${createHmac('sha256', key).update(`${id}.${sentAtS}.${body}`).digest('base64')}`
}

/**
 * Body of a request. It is smaller than 20 kB and has the same bytes for every attempt. `timestamp` is the time of the
 * event.
 */
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

/** The request of an attempt, signed with the secret and with all `former` secrets. `at` is the time of the attempt. */
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

/** Validates a configuration and generates a missing secret. Fails with `invalid`, naming the field. */
export function prepareWebhook(input: object, guard: AddressGuard): WebhookConfig {
  const { url, secret = newSecret() } = parse(input, 'config')
  atField('config.url', () => guard.checkUrl(url))
  if (!keyOf(secret))
    throw new AppError('invalid', `config.secret: must be ${PREFIX} followed by 24 to 64 bytes in base64`)
  return { url, secret }
}

const PRODUCT = {
  type: 'webhook',
  title: CHANNEL_TITLES.webhook,
  help: 'Posts each message as signed JSON to your own server, following Standard Webhooks.',
} as const

const secrets: Secrets<WebhookConfig> = { fields: ['secret'], derived: ({ url }) => [url] }

/** Webhooks: signed JSON sent by POST, following Standard Webhooks 1.0.0. */
export const webhookChannel = channel<WebhookConfig, unknown, WebhookTokens>({
  ...PRODUCT,
  secrets,
  addresses: {
    target: Text(1, 2000, {
      title: 'URL',
      description: "https URL; requests are signed with the organization's secret",
      examples: ['https://hooks.example.com/tags'],
    }),
    check(target, guard) {
      guard.checkUrl(target)
    },
    settingsOf: (target, org) => ({ url: target, secret: org.webhookSecret() }),
  },
  hasIntegrations: true,
  checkDetail: noDetail,
  deliveryOf: () => ({ openings: 'separate', usesHistory: false, deliver, test: deliver, syncStatus: showsNoStatus }),
})

/** Webhooks with their own signing secret. */
export const webhookConnector = connector<WebhookConfig, unknown, WebhookTokens>({
  ...PRODUCT,
  secrets,
  operator: [],
  notifies: true,
  configuration: {
    schema: WebhookConfigSchema,
    prepare: prepareWebhook,
    perOrganization: 'many',
    exclusive: [],
    isComplete: () => true,
    origin: () => null,
  },
  connection: {
    by: 'generated',
    rotate(settings, tokens, now) {
      const secret = newSecret()
      const former = [{ secret: settings.secret, until: now + ROTATION_MS }, ...stillSigning(tokens, now)]
      return { settings: { ...settings, secret }, tokens: { former: former.slice(0, MAX_FORMER) }, secret }
    },
  },
  inbound: [],
  routes: () => [],
})

async function deliver(
  context: DeliveryContext<WebhookConfig, unknown, WebhookTokens>,
  message: Message,
): Promise<Outcome> {
  const { settings, tokens, deliveryId, integrationId } = context
  const at = context.now()
  const former = stillSigning(tokens, at).map(({ secret }) => secret)
  const outbound = webhookRequest(message, settings, { deliveryId, at, former })
  const reply = await context.send(outbound)
  const outcome = outcomeOf(outbound, reply, context.now())
  // In Standard Webhooks, a receiver unsubscribes with a 410.
  const isGone = outcome.verdict === 'broken' && reply.kind === 'status' && reply.status === 410
  return isGone && integrationId !== null ? { ...outcome, status: 'disabled' } : outcome
}

const stillSigning = ({ former = [] }: Partial<WebhookTokens>, now: Instant) =>
  former.filter(({ until }) => until > now)
