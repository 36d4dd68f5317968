import { CHANNEL_TITLES } from '../../../contract/products.ts'
import { AppError } from '../../../core/error.ts'
import { Text } from '../../../core/schema.ts'
import { LOGO_PICTURE } from '../../../mail/mail-logo.ts'
import type { MailOutbound } from '../../../transport/transport.ts'
import { chartOf, hasChart } from '../../message/chart-png.ts'
import { groupText, summarizeGroup } from '../../message/grouped-message-text.ts'
import type { Message } from '../../message/message.ts'
import { groupHtml, htmlOf } from '../../message/message-mail.ts'
import { subjectOf, textOf } from '../../message/message-text.ts'
import { type Addresses, channel, NO_SECRETS, noDetail, showsNoStatus } from '../channel.ts'
import type { DeliveryContext } from '../provider-context.ts'
import { sendOutbound } from '../send-outbound.ts'

interface EmailConfig {
  to: string[]
}

/** Target that represents the organization's owners at the time of sending. */
export const OWNERS_TARGET = 'owners'

/** Prefix of user ids. They are the targets of e-mails to members, and alerts can't use them. */
const MEMBER_PREFIX = 'usr_'

const MAX_ADDRESSES = 50
/** Source: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const ADDRESS =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

const partsOf = (target: string) => target.split(',').map((part) => part.trim())

/** Rejects likely typing errors: an empty item or a duplicate address. */
function checkList(target: string): void {
  const parts = partsOf(target)
  const empty = parts.indexOf('')
  if (empty >= 0 && parts.length > 1) {
    throw new AppError('invalid', `address ${empty + 1} of ${parts.length} is empty: remove the extra comma`)
  }
  const twice = parts.find((part, index) => parts.findIndex((one) => one.toLowerCase() === part.toLowerCase()) < index)
  if (twice !== undefined) throw new AppError('invalid', `${JSON.stringify(twice)} is listed twice`)
}

/** The distinct addresses in a target, in order. Fails with `invalid` on the first malformed address. */
function addressesOf(target: string): string[] {
  const addresses = [...new Set(partsOf(target))].filter((part) => part !== '')
  const bad = addresses.find((address) => address.length > 254 || !ADDRESS.test(address))
  if (bad !== undefined) throw new AppError('invalid', `${JSON.stringify(bad)} is not an e-mail address`)
  if (addresses.length === 0) throw new AppError('invalid', 'must be one or more comma-separated e-mail addresses')
  if (addresses.length > MAX_ADDRESSES) throw new AppError('invalid', `must have at most ${MAX_ADDRESSES} addresses`)
  return addresses
}

export const mailTargets: Addresses<EmailConfig> = {
  target: Text(1, 2000, {
    title: 'Addresses',
    description: "Comma-separated e-mail addresses, or `owners` for the organization's owners",
    examples: ['ann@example.com, ben@example.com', OWNERS_TARGET],
  }),
  check(target) {
    if (target === OWNERS_TARGET) return
    addressesOf(target)
    checkList(target)
  },
  settingsOf(target, org) {
    if (target.startsWith(MEMBER_PREFIX)) {
      const address = org.memberAddress(target)
      if (address === null) throw new AppError('invalid', 'the recipient is no longer a member of the organization')
      return { to: [address] }
    }
    if (target !== OWNERS_TARGET) return { to: addressesOf(target) }
    const to = org.ownerAddresses()
    if (to.length === 0) throw new AppError('invalid', 'the organization has no owner')
    return { to }
  },
}

/**
 * E-mail as a notification channel. One e-mail is sent to all addresses in the target. E-mails about the same issue
 * form a thread.
 */
export const email = channel<EmailConfig>({
  type: 'email',
  title: CHANNEL_TITLES.email,
  help: 'Sends each message as an e-mail. E-mails about the same issue form a thread.',
  secrets: NO_SECRETS,
  addresses: mailTargets,
  hasIntegrations: false,
  checkDetail: noDetail,
  deliveryOf: () => ({
    openings: 'grouped',
    usesHistory: true,
    deliver,
    test: deliver,
    syncStatus: showsNoStatus,
    deliverGroup(context, members) {
      const words = summarizeGroup(members)
      return sendOutbound(context, {
        kind: 'mail',
        to: context.settings.to,
        subject: words.subject,
        text: groupText(words),
        html: groupHtml(words),
        pictures: [LOGO_PICTURE],
        // Uses the first member's id because it is the same for every attempt.
        messageId: members[0]?.deliveryId ?? '',
        threadId: null,
      })
    },
  }),
})

const deliver = (context: DeliveryContext<EmailConfig>, message: Message) =>
  sendOutbound(context, mailOf(message, context.settings, context.deliveryId))

/** The e-mail for a message, including the logo, and its chart if it has one. */
export function mailOf(message: Message, { to }: EmailConfig, deliveryId: string): MailOutbound {
  const chartId = hasChart(message) ? `chart.${deliveryId}@tagwarden` : null
  return {
    kind: 'mail',
    to,
    subject: subjectOf(message),
    text: textOf(message),
    html: htmlOf(message, { chartId }),
    messageId: deliveryId,
    threadId: message.issue?.id ?? null,
    pictures:
      chartId === null ? [LOGO_PICTURE] : [LOGO_PICTURE, { id: chartId, name: 'chart.png', png: chartOf(message) }],
  }
}
