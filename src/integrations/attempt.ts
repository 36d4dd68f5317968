import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { oneAtATime } from '../core/one-at-a-time.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from '../store/database.ts'
import { type DeliveryRecord, messageOfDelivery } from './delivery.ts'
import type { Message } from './message.ts'
import { OpenDelivery } from './open-context.ts'
import { PROVIDERS } from './providers/index.ts'
import type { Provider } from './providers/provider.ts'
import { type Attempted, type Outcome, outcomeOfError, Unusable } from './reply.ts'
import { findProvider } from './targets.ts'
import type { Transport } from './transport.ts'

/** What deliveries are sent with. */
export interface DeliveryParts {
  db: Db
  transport: Transport
  clock: Clock
  box: SecretBox
  /** From 0 to below 1: spreads repeats in time. */
  jitter: () => number
  /** True when mail can be sent: owners are told of lost deliveries by it. */
  mailConfigured: boolean
  /** Told of what is a bug or a damaged row, not a refusal; its outcome is recorded all the same. */
  report: (error: unknown, deliveryId: string) => void
  /** Default: all there are. */
  providers?: readonly Provider[]
  /** What who runs the server has set for providers, by name. */
  operator?: Readonly<Record<string, string>>
}

/** An attempt of several steps that takes longer is ended, and tried again from its last checkpoint. */
export const ATTEMPT_TIMEOUT_MS = 120_000

/** Sends one claimed delivery. Never throws: what can't be rendered is broken, with the reason. */
export async function attempt(
  parts: DeliveryParts,
  delivery: DeliveryRecord,
  stopping: AbortSignal,
): Promise<Attempted> {
  let context: OpenDelivery | null = null
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ATTEMPT_TIMEOUT_MS)
  try {
    const { provider, message } = providerAndMessage(parts, delivery)
    context = new OpenDelivery(parts, provider, delivery, AbortSignal.any([stopping, late.signal]))
    const outcome = await deliverOnce(parts, provider, context, { delivery, message })
    if (outcome.verdict !== 'delivered' && stopping.aborted) return STOPPED
    return context.ended(outcome)
  } catch (error) {
    if (stopping.aborted) return STOPPED
    const outcome = late.signal.aborted ? TOO_LATE : outcomeOfError(error, parts.clock.now())
    if (!outcome) parts.report(context?.withoutSecrets(error) ?? error, delivery.id)
    return context?.ended(outcome ?? UNKNOWN) ?? { outcome: outcome ?? UNKNOWN, hung: false, said: '' }
  } finally {
    clearTimeout(timer)
  }
}

const STOPPED: Attempted = { outcome: { verdict: 'stopped' }, hung: false, said: '' }
const TOO_LATE: Outcome = {
  verdict: 'retry',
  reason: `not done within ${ATTEMPT_TIMEOUT_MS / 1000} s`,
  retryAfterMs: null,
}
// The error itself may quote what could not be read.
const UNKNOWN: Outcome = { verdict: 'broken', reason: 'it could not be rendered; the log of the server says more' }

function providerAndMessage(
  { providers = PROVIDERS }: DeliveryParts,
  delivery: DeliveryRecord,
): { provider: Provider; message: Message } {
  const { channelType } = delivery
  const provider = findProvider(providers, channelType)
  if (!provider) throw new AppError('invalid', `${channelType} is not available in this version`)
  const message = messageOfDelivery(delivery)
  if (!message) throw new AppError('invalid', 'the stored message is damaged')
  return { provider, message }
}

/** Whatever is done about one issue through one channel is done one after the other: each sees what the last remembered. */
function deliverOnce(
  { db }: DeliveryParts,
  provider: Provider,
  context: OpenDelivery,
  { delivery, message }: { delivery: DeliveryRecord; message: Message },
): Promise<Outcome> {
  const { transition, issueId, channelType, channelTarget } = delivery
  if (transition === 'test' && provider.test) return provider.test(context)
  const { deliver } = provider
  if (!deliver) throw new AppError('invalid', `${channelType} is no channel`)
  if (transition !== 'test') refuseUnusable(context)
  const work = () => deliver(context, message)
  return issueId === null ? work() : oneAtATime(db, issueKey(issueId, channelType, channelTarget), work)
}

export const issueKey = (issueId: string, type: string, target: string) => `issue ${issueId} ${type} ${target}`

const UNUSABLE = {
  incomplete: 'something has to be chosen in the integration first',
  reauth_required: 'the integration has to be connected anew: somebody has to sign in at the other side',
  disabled: 'the other side wants no more; a test that arrives, or new settings, begin anew',
}

/** Fails with `Unusable` while nothing may go through the integration. */
export function refuseUnusable({ status }: { status: string }): void {
  if (status === 'incomplete' || status === 'reauth_required' || status === 'disabled') {
    throw new Unusable(status, UNUSABLE[status])
  }
}
