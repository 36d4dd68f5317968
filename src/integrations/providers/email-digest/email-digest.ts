import { randomUUID } from 'node:crypto'
import { AppError } from '../../../core/error.ts'
import { Closed, Int, parser, Text, Type } from '../../../core/schema.ts'
import { checkEmail } from '../../../org/user.ts'
import type { Outcome } from '../../outcome.ts'
import type { MailOutbound } from '../../transport/transport.ts'
import { provider } from '../provider.ts'
import type { IntegrationContext } from '../provider-context.ts'
import { sendOutbound } from '../send-outbound.ts'

export interface EmailDigestConfig {
  /** 1 to 50 addresses; none once all of them unsubscribed. */
  to: string[]
  /** 0 to 23: from this hour on the digest of a day is sent. */
  hourUtc: number
  /** For whom it is and what comes first; may be empty. */
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
      description: 'Each gets a mail of its own',
    }),
    hourUtc: Int({
      minimum: 0,
      maximum: 23,
      title: 'Hour',
      description: 'Sent from this hour on, UTC',
      'x-unit': 'h',
      examples: [7],
    }),
    context: Type.Optional(
      Type.String({
        maxLength: MAX_CONTEXT,
        title: 'Readers',
        description: 'For whom it is, and what comes first',
        examples: ['the checkout team; purchases first'],
      }),
    ),
  },
  { $id: 'EmailDigestConfig' },
)
const parse = parser(EmailDigestConfigSchema)

/** Completes what was configured. Fails with `invalid`, naming the field. */
function prepare(input: object): EmailDigestConfig {
  const { to, hourUtc, context = '' } = parse(input, 'config')
  const addresses = to.map((address, at) => addressAt(address, at))
  const twice = addresses.findIndex((address, at) => addresses.findIndex((one) => isSame(one, address)) < at)
  if (twice >= 0) throw new AppError('invalid', `config.to[${twice}]: is there twice`)
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

const TEST = 'This is a test of the digest: it will come to this address, once a day when something happened.'

/** A digest to addresses, who need not be members. It is no channel: what it says is composed and sent by the room `digest`. */
export const emailDigest = provider<EmailDigestConfig>({
  type: 'email_digest',
  title: 'E-mail digest',
  help: 'Sends a summary once a day when something happened, also to people who are no members.',
  connect: { by: 'none' },
  configured: { schema: EmailDigestConfigSchema, prepare },
  origin: () => '',
  test: sendTests,
})

/** A mail of its own to each address, as with the digest: nobody sees the others. Delivered when one of them took it. */
async function sendTests(context: IntegrationContext<EmailDigestConfig>): Promise<Outcome> {
  const { to } = context.settings
  const refusals: Outcome[] = []
  for (const address of to) {
    const outcome = await sendOutbound(context, testMail(address))
    if (outcome.verdict === 'broken') refusals.push(outcome)
    else if (outcome.verdict !== 'delivered') return outcome
  }
  const [first] = refusals
  if (to.length === 0) return { verdict: 'broken', reason: 'everybody has unsubscribed: there is no address' }
  if (first && refusals.length === to.length) return first
  return { verdict: 'delivered', note: first ? `${refusals.length} of ${to.length} addresses refused` : null }
}

const testMail = (address: string): MailOutbound => ({
  kind: 'mail',
  to: [address],
  subject: 'Tagwarden: test of the digest',
  text: `${TEST}\n`,
  html: `<p>${TEST}</p>`,
  messageId: randomUUID(),
  threadId: null,
})
