import { CHANNEL_TITLES } from '../../../contract/products.ts'
import { HOUR_MS, type Instant } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { Text } from '../../../core/schema.ts'
import { type Outcome, outcomeOf } from '../../delivery-outcome.ts'
import type { Message } from '../../message/message.ts'
import { channel, type Delivery, noDetail, type Secrets, showsNoStatus } from '../channel.ts'
import { connector } from '../connector.ts'
import type { DeliveryContext } from '../provider-context.ts'
import { deliveryIn, type IncidentMemory } from './format-delivery.ts'
import { newSecret, webhookRequest } from './standard-webhooks.ts'
import { formatOf, prepareWebhook, STANDARD, WebhookConfigSchema, type WebhookSettings } from './webhook-config.ts'

/** Period during which a replaced secret is still used to sign. */
const ROTATION_MS = 24 * HOUR_MS
/** Maximum number of replaced secrets that are still used to sign. */
const MAX_FORMER = 4

/** Replaced secrets that are still used to sign. */
interface WebhookTokens {
  former: { secret: string; until: Instant }[]
}

const PRODUCT = {
  type: 'webhook',
  title: CHANNEL_TITLES.webhook,
  help: 'Posts each message to a URL: as signed JSON following Standard Webhooks, or in the format of a product such as Discord or PagerDuty.',
} as const

const secrets: Secrets<WebhookSettings> = { fields: ['secret'], derived: ({ url }) => [url] }

/** Webhooks: signed JSON following Standard Webhooks 1.0.0, or one of `FORMATS`. */
export const webhookChannel = channel<WebhookSettings, IncidentMemory, WebhookTokens>({
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
  deliveryOf(config) {
    const format = formatOf(config)
    return format ? deliveryIn(format) : STANDARD_DELIVERY
  },
})

/** Webhooks with their own signing secret. */
export const webhookConnector = connector<WebhookSettings, IncidentMemory, WebhookTokens>({
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
      if (settings.secret === undefined || formatOf({ ...settings }))
        throw new AppError('conflict', `only webhooks with the format ${STANDARD} have a secret to rotate`)
      const secret = newSecret()
      const former = [{ secret: settings.secret, until: now + ROTATION_MS }, ...stillSigning(tokens, now)]
      return { settings: { ...settings, secret }, tokens: { former: former.slice(0, MAX_FORMER) }, secret }
    },
  },
  inbound: [],
  routes: () => [],
})

async function deliver(
  context: DeliveryContext<WebhookSettings, IncidentMemory, WebhookTokens>,
  message: Message,
): Promise<Outcome> {
  const { settings, tokens, deliveryId, integrationId } = context
  const { url, secret = '' } = settings
  const at = context.now()
  const former = stillSigning(tokens, at).map(({ secret }) => secret)
  const outbound = webhookRequest(message, { url, secret }, { deliveryId, at, former })
  const reply = await context.send(outbound)
  const outcome = outcomeOf(outbound, reply, context.now())
  // In Standard Webhooks, a receiver unsubscribes with a 410.
  const isGone = outcome.verdict === 'broken' && reply.kind === 'status' && reply.status === 410
  return isGone && integrationId !== null ? { ...outcome, status: 'disabled' } : outcome
}

const STANDARD_DELIVERY: Delivery<WebhookSettings, IncidentMemory, WebhookTokens> = {
  openings: 'separate',
  usesHistory: false,
  deliver,
  test: deliver,
  syncStatus: showsNoStatus,
}

const stillSigning = ({ former = [] }: Partial<WebhookTokens>, now: Instant) =>
  former.filter(({ until }) => until > now)
