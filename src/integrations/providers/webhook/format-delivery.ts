import { jsonObject } from '../../../core/parse-json-object.ts'
import { oneLine } from '../../../core/text.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import type { HttpOutbound } from '../../../transport/transport.ts'
import { DELIVERED, type Outcome, outcomeOf } from '../../delivery-outcome.ts'
import type { Message } from '../../message/message.ts'
import { type Delivery, showsNoStatus } from '../channel.ts'
import { reserveSlot } from '../posting-slots.ts'
import type { IntegrationContext } from '../provider-context.ts'
import { textOfGroup, textOfMessage } from './chat-text.ts'
import type { ChatFormat, IncidentAction, IncidentEvent, IncidentFormat, WebhookFormat } from './format.ts'
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
  const { markup, maxLength } = format
  const deliver = (context: Context, message: Message) =>
    send(context, format, format.post(textOfMessage(message, markup, maxLength), destinationOf(context.settings)))
  return {
    openings: 'grouped',
    usesHistory: true,
    deliver,
    test: deliver,
    syncStatus: showsNoStatus,
    deliverGroup: (context, members) =>
      send(context, format, format.post(textOfGroup(members, markup, maxLength), destinationOf(context.settings))),
  }
}

const STATUS_ACTIONS: Record<IssueStatus, IncidentAction> = {
  open: 'trigger',
  acknowledged: 'acknowledge',
  muted: 'acknowledge',
  resolved: 'resolve',
}

function incidentDelivery(format: IncidentFormat): Delivery<WebhookSettings, IncidentMemory> {
  const requestOf = (context: Context, event: IncidentEvent) => format.request(event, destinationOf(context.settings))
  return {
    openings: 'separate',
    usesHistory: true,
    async deliver(context, message) {
      const status = message.kind === 'resolved' ? 'resolved' : 'open'
      const event = { action: STATUS_ACTIONS[status], key: keyOf(message), message }
      const outcome = await send(context, format, requestOf(context, event))
      if (outcome.verdict === 'delivered' && message.issue && message.kind !== 'delivery_failed')
        await context.remember({ told: status })
      return outcome
    },
    async test(context, message) {
      const event = { key: keyOf(message), message }
      const opened = await send(context, format, requestOf(context, { ...event, action: 'trigger' }))
      if (opened.verdict !== 'delivered') return opened
      return outcomeOfReply(context, format, requestOf(context, { ...event, action: 'resolve' }))
    },
    async syncStatus(context, { status, message }) {
      if (context.memory?.told === status) return DELIVERED
      const event = { action: STATUS_ACTIONS[status], key: keyOf(message), message }
      const outcome = await send(context, format, requestOf(context, event))
      if (outcome.verdict === 'delivered') await context.remember({ told: status })
      return outcome
    },
  }
}

/** Key of the incident. A test and a failed delivery have their own incidents, because the issue's may be closed. */
function keyOf({ kind, issue, at }: Message): string {
  if (!issue) return `test-${at}`
  return kind === 'delivery_failed' ? `${issue.id}-delivery_failed` : issue.id
}

/** Sends a request, no faster than the format allows. */
async function send(context: Context, format: WebhookFormat, outbound: HttpOutbound): Promise<Outcome> {
  const { url, secret } = destinationOf(context.settings)
  // All integrations with PagerDuty have the same URL.
  const waitMs = reserveSlot(`${url} ${secret}`, context.now(), format.intervalMs)
  if (waitMs > 0) return { verdict: 'wait', waitMs }
  return outcomeOfReply(context, format, outbound)
}

const MAX_REASON_LENGTH = 200

async function outcomeOfReply(context: Context, format: WebhookFormat, outbound: HttpOutbound): Promise<Outcome> {
  const reply = await context.send(outbound)
  const outcome = outcomeOf(outbound, reply, context.now())
  if (reply.kind === 'error') return outcome
  const { status } = reply
  const error = format.errorIn({ status, body: jsonObject(reply.body) ?? {} })
  if (!error) return outcome
  const reason = `HTTP ${status}: ${oneLine(error.message, MAX_REASON_LENGTH)}`
  if (outcome.verdict === 'retry') return { ...outcome, reason, retryAfterMs: error.waitMs ?? outcome.retryAfterMs }
  return error.isGone ? { verdict: 'broken', reason, status: 'disabled' } : { verdict: 'broken', reason }
}
