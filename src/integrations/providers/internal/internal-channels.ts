import type { OperatorNotice } from '../../../base.ts'
import { AppError } from '../../../core/error.ts'
import { Text } from '../../../core/schema.ts'
import { capitalized } from '../../../core/text.ts'
import { type MailDocument, NO_EXTRAS } from '../../../mail/mail-document.ts'
import { renderMail } from '../../../mail/render-mail.ts'
import { type SecurityMailOptions, type SecurityNotice, securityMail } from '../../../org/security-mail.ts'
import type { HttpOutbound, MailOutbound } from '../../../transport/transport.ts'
import { DELIVERED, type Outcome } from '../../delivery-outcome.ts'
import type { Message } from '../../message/message.ts'
import { type Channel, channel, type Delivery, NO_SECRETS, noDetail, showsNoStatus } from '../channel.ts'
import type { DeliveryContext } from '../provider-context.ts'
import { sendOutbound } from '../send-outbound.ts'
import type { InternalChannelType } from './internal-channel-types.ts'

/** The stored message of a delivery to the operator. */
export interface StoredNotice extends OperatorNotice {
  at: number
}

interface InternalChannelDeps extends SecurityMailOptions {
  /** Empty if not configured. */
  operatorMail: string
  operatorWebhookUrl: string
  /** Called when a canary event has passed through the whole pipeline. */
  onCanary(message: Message): void
  /** Called when a message to the operator or a user could not be delivered. The reason contains no secrets. */
  onFailure(recipient: 'the operator' | 'a user', reason: string): void
}

/**
 * The channels of the internal organization. They are not in `CHANNELS`, so no alert of a user can name them. Their
 * addresses come from the settings when a message is sent, so a changed setting also applies to waiting messages.
 */
export function internalChannels(deps: InternalChannelDeps): readonly Channel[] {
  const { publicUrl, operatorMail, operatorWebhookUrl, onCanary, onFailure } = deps
  const reported = async (sending: Promise<Outcome>, recipient: 'the operator' | 'a user' = 'the operator') => {
    const outcome = await sending
    if (outcome.verdict === 'broken' || outcome.verdict === 'retry') onFailure(recipient, outcome.reason)
    return outcome
  }
  return [
    internalChannel('operator_mail', {}, (context, message) =>
      reported(sendOutbound(context, operatorMailOf(noticeOf(message), operatorMail, context.deliveryId))),
    ),
    internalChannel('operator_webhook', { url: operatorWebhookUrl }, (context, message) =>
      reported(
        sendOutbound(
          context,
          operatorWebhookOf(noticeOf(message), { url: operatorWebhookUrl, publicUrl }, context.deliveryId),
        ),
      ),
    ),
    internalChannel('security_mail', {}, (context, message) => {
      const notice = message as unknown as SecurityNotice
      return reported(
        sendOutbound(context, mailOf(securityMail(notice, deps), notice.to, context.deliveryId)),
        'a user',
      )
    }),
    internalChannel('canary', {}, async (_, message) => {
      onCanary(message)
      return DELIVERED
    }),
  ]
}

const noticeOf = (message: Message) => message as unknown as StoredNotice

type Deliver = (context: DeliveryContext<{ url?: string }>, message: Message) => Promise<Outcome>

function internalChannel(type: InternalChannelType, settings: { url?: string }, deliver: Deliver): Channel {
  const delivery: Delivery<{ url?: string }> = {
    openings: 'separate',
    usesHistory: false,
    deliver,
    test: deliver,
    syncStatus: showsNoStatus,
  }
  return channel<{ url?: string }>({
    type,
    title: 'Tagwarden',
    help: '',
    secrets: { ...NO_SECRETS, derived: ({ url }) => (url ? [url] : []) },
    addresses: {
      target: Text(1, 100, { title: 'Target' }),
      check() {
        throw new AppError('invalid', `${type} is not available to alerts`)
      },
      settingsOf: () => settings,
    },
    hasIntegrations: false,
    checkDetail: noDetail,
    deliveryOf: () => delivery,
  })
}

/** The e-mail for a message to the operator. */
export function operatorMailOf({ subject, text }: OperatorNotice, to: string, messageId: string): MailOutbound {
  const document: MailDocument = {
    ...NO_EXTRAS,
    subject: `Tagwarden: ${subject}`,
    headline: `${capitalized(subject)}.`,
    sections: [{ title: '', blocks: [{ kind: 'text', text }] }],
  }
  return mailOf(document, to, messageId)
}

function mailOf(document: MailDocument, to: string, messageId: string): MailOutbound {
  return {
    kind: 'mail',
    to: [to],
    ...renderMail(document),
    messageId,
    threadId: null,
  }
}

/**
 * The request for a message to the operator. Chats that accept incoming webhooks, such as Slack and Mattermost, show
 * `text`.
 */
export function operatorWebhookOf(
  { subject, text, at }: StoredNotice,
  { url, publicUrl }: { url: string; publicUrl: string },
  deliveryId: string,
): HttpOutbound {
  const body = { text: `Tagwarden: ${capitalized(subject)}. ${text}`, subject, details: text, at, server: publicUrl }
  return {
    kind: 'http',
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'webhook-id': deliveryId },
    body: JSON.stringify(body),
  }
}
