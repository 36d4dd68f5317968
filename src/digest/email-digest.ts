import { randomUUID } from 'node:crypto'
import { PROVIDER_TITLES } from '../contract/products.ts'
import { checkEmail } from '../core/email-address.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, parser, Text, Type } from '../core/schema.ts'
import type { Outcome } from '../integrations/delivery-outcome.ts'
import { NO_SECRETS } from '../integrations/providers/channel.ts'
import { connector } from '../integrations/providers/connector.ts'
import type { IntegrationContext } from '../integrations/providers/provider-context.ts'
import { sendOutbound } from '../integrations/providers/send-outbound.ts'
import { NO_EXTRAS } from '../mail/mail-document.ts'
import { renderMail } from '../mail/render-mail.ts'
import type { MailOutbound } from '../transport/transport.ts'

export interface EmailDigestConfig {
  /** 1 to 50 e-mail addresses. Empty if all recipients have unsubscribed. */
  to: string[]
  /** Hour (0 to 23) from which the daily digest is sent, in UTC. */
  hourUtc: number
  /** Audience and priorities of the digest. May be empty. */
  context: string
}

const MAX_ADDRESSES = 50
export const MAX_CONTEXT = 200

const EmailDigestConfigSchema = Closed(
  {
    to: Type.Array(Text(1, 254, { title: 'Address', examples: ['ann@example.com'] }), {
      minItems: 1,
      maxItems: MAX_ADDRESSES,
      title: 'Addresses',
      description: 'Each recipient gets a separate e-mail',
    }),
    hourUtc: Int({
      minimum: 0,
      maximum: 23,
      title: 'Hour',
      description: 'Hour of the day in UTC at which the digest is sent',
      'x-unit': 'h',
      examples: [7],
    }),
    context: Type.Optional(
      Type.String({
        maxLength: MAX_CONTEXT,
        title: 'Readers',
        description: 'Intended readers of the digest, and topics to mention first',
        examples: ['the checkout team; purchases first'],
      }),
    ),
  },
  { $id: 'EmailDigestConfig' },
)
const parse = parser(EmailDigestConfigSchema)

/** Validates and completes a configuration. Fails with `invalid`, naming the field. */
function prepare(input: object): EmailDigestConfig {
  const { to, hourUtc, context = '' } = parse(input, 'config')
  const addresses = to.map((address, at) => addressAt(address, at))
  const twice = addresses.findIndex((address, at) => addresses.findIndex((one) => isSame(one, address)) < at)
  if (twice >= 0) throw new AppError('invalid', `config.to[${twice}]: is listed twice`)
  return { to: addresses, hourUtc, context }
}

function addressAt(address: string, at: number): string {
  try {
    return checkEmail(address)
  } catch (error) {
    if (error instanceof AppError) throw new AppError('invalid', `config.to[${at}]: is not an e-mail address`)
    throw error
  }
}

export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

const TEST =
  'This is a test of the digest. The digest will be sent to this address once a day if there is something to report.'

/**
 * A daily digest for e-mail addresses, which need not belong to members. It is not a notification channel: the `digest`
 * module composes and sends it.
 */
export const emailDigest = connector<EmailDigestConfig>({
  type: 'email_digest',
  title: PROVIDER_TITLES.email_digest,
  help: 'Sends a daily summary if there is something to report. Recipients need not be members.',
  secrets: NO_SECRETS,
  operator: [],
  notifies: false,
  test: sendTests,
  configuration: {
    schema: EmailDigestConfigSchema,
    prepare,
    perOrganization: 'many',
    exclusive: [],
    isComplete: () => true,
    origin: () => '',
  },
  connection: { by: 'settings' },
  inbound: [],
  routes: () => [],
})

/**
 * Sends a separate e-mail to each address, so that recipients do not see each other. Succeeds if at least one e-mail
 * was sent.
 */
async function sendTests(context: IntegrationContext<EmailDigestConfig>): Promise<Outcome> {
  const { to } = context.settings
  const refusals: Outcome[] = []
  for (const address of to) {
    const outcome = await sendOutbound(context, testMail(address))
    if (outcome.verdict === 'broken') refusals.push(outcome)
    else if (outcome.verdict !== 'delivered') return outcome
  }
  const [first] = refusals
  if (to.length === 0) return { verdict: 'broken', reason: 'there are no recipients: all have unsubscribed' }
  if (first && refusals.length === to.length) return first
  return { verdict: 'delivered', note: first ? `${refusals.length} of ${to.length} addresses rejected` : null }
}

const TEST_MAIL = { ...NO_EXTRAS, subject: 'Tagwarden: test digest', headline: TEST }

const testMail = (address: string): MailOutbound => ({
  kind: 'mail',
  to: [address],
  ...renderMail(TEST_MAIL),
  messageId: randomUUID(),
  threadId: null,
})
