import { SECOND_MS } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import type { HttpOutbound } from '../../../transport/transport.ts'
import { DELIVERED, type Outcome, outcomeOf, retryAfterMs } from '../../delivery-outcome.ts'
import type { Message } from '../../message/message.ts'
import { type Delivery, showsNoStatus } from '../channel.ts'
import { reserveSlot } from '../posting-slots.ts'
import type { DeliveryContext, IntegrationContext, IssueContext, StatusChange } from '../provider-context.ts'
import type { ChatFormat, IncidentFormat, WebhookFormat } from './format.ts'
import { destinationOf, type WebhookSettings } from './webhook-config.ts'

/** Memory of an issue that has an incident. */
export interface IncidentMemory {
  /** The status that the incident shows. */
  told: IssueStatus
}

type Context = Pick<IntegrationContext<WebhookSettings>, 'settings' | 'now' | 'send'>

/** How messages are delivered in a format. */
export function deliveryIn(format: WebhookFormat): Delivery<WebhookSettings, IncidentMemory> {
  return format.shows === 'messages' ? chatDelivery(format) : incidentDelivery(format)
}

function chatDelivery(format: ChatFormat): Delivery<WebhookSettings, IncidentMemory> {
  const deliver = (context: Context, message: Message) =>
    send(context, format, format.render(message, destinationOf(context.settings)))
  return {
    openings: 'grouped',
    usesHistory: true,
    deliver,
    test: deliver,
    syncStatus: showsNoStatus,
    deliverGroup: (context, members) =>
      send(context, format, format.renderGroup(members, destinationOf(context.settings))),
  }
}

function incidentDelivery(format: IncidentFormat): Delivery<WebhookSettings, IncidentMemory> {
  return {
    openings: 'separate',
    usesHistory: true,
    async deliver(context: DeliveryContext<WebhookSettings, IncidentMemory>, message: Message) {
      const outcome = await send(context, format, format.render(message, destinationOf(context.settings)))
      if (outcome.verdict === 'delivered' && message.issue && message.kind !== 'delivery_failed')
        await context.remember({ told: message.kind === 'resolved' ? 'resolved' : 'open' })
      return outcome
    },
    async test(context, message) {
      const to = destinationOf(context.settings)
      const opened = await send(context, format, format.render(message, to))
      if (opened.verdict !== 'delivered') return opened
      return outcomeOfReply(context, format, format.renderTestEnd(message, to))
    },
    async syncStatus(context: IssueContext<WebhookSettings, IncidentMemory>, change: StatusChange) {
      const { status } = change
      if (context.memory?.told === status) return DELIVERED
      const outcome = await send(context, format, format.renderStatus(change, destinationOf(context.settings)))
      if (outcome.verdict === 'delivered') await context.remember({ told: status })
      return outcome
    },
  }
}

/** Sends a request, no faster than the format allows. */
async function send(context: Context, format: WebhookFormat, outbound: HttpOutbound): Promise<Outcome> {
  const waitMs = reserveSlot(context.settings.url, context.now(), format.intervalMs)
  if (waitMs > 0) return { verdict: 'wait', waitMs }
  return outcomeOfReply(context, format, outbound)
}

/** Pause after a rejection for exceeding the rate limit that names no pause. */
const DEFAULT_WAIT_MS = 10 * SECOND_MS

async function outcomeOfReply(context: Context, format: WebhookFormat, outbound: HttpOutbound): Promise<Outcome> {
  const reply = await context.send(outbound)
  const now = context.now()
  const outcome = outcomeOf(outbound, reply, now)
  if (reply.kind === 'error') return outcome
  if (reply.status === 429)
    return { verdict: 'wait', waitMs: retryAfterMs(reply.headers['retry-after'], now) ?? DEFAULT_WAIT_MS }
  const rejection = outcome.verdict === 'delivered' ? format.rejectionIn(reply.body) : null
  if (rejection !== null) return { verdict: 'broken', reason: rejection }
  const isGone = outcome.verdict === 'broken' && format.goneStatuses.includes(reply.status)
  return isGone ? { ...outcome, status: 'disabled' } : outcome
}
