import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Db } from '../../store/database.ts'
import type { Transport } from '../../transport/transport.ts'
import { deliveryTo, findByType } from '../channel-targets.ts'
import type { LiveContext } from '../context/live-context.ts'
import { type AttemptResult, type Outcome, outcomeOfError, Unusable } from '../delivery-outcome.ts'
import type { Message } from '../message/message.ts'
import type { Channel } from '../providers/channel.ts'
import { CHANNELS } from '../providers/index.ts'
import { type DeliveryRecord, messageOfDelivery } from './delivery.ts'
import { LiveDeliveryContext, LiveGroupContext } from './delivery-context.ts'
import { type DeliveryHead, lockKeyOf } from './group-openings.ts'
import type { MessageEnricher } from './message-enricher.ts'

/** Dependencies for sending deliveries. */
export interface DeliveryDeps {
  db: Db
  transport: Transport
  clock: Clock
  box: SecretBox
  /** Returns a random number from 0 (inclusive) to 1 (exclusive), used to spread retries. */
  jitter: () => number
  /** True if a mail server is configured. If so, owners are notified of failed deliveries. */
  mailConfigured: boolean
  /** Reports a bug or a corrupt row. The outcome is recorded anyway. */
  report: (error: unknown, deliveryId: string) => void
  /** Default: `CHANNELS`. */
  channels?: readonly Channel[]
  /** The operator's provider settings, by name. */
  operator?: Readonly<Record<string, string>>
  /** Adds data from the event history to messages. Absent: messages are sent without this data. */
  enricher?: Pick<MessageEnricher, 'enrich'>
}

/** Time limit of an attempt. The next attempt continues from the last checkpoint. */
const ATTEMPT_TIMEOUT_MS = 120_000

/** A claimed delivery, and the other openings in its group that are sent in the same message, in order. */
export interface Claimed {
  delivery: DeliveryRecord
  others: readonly DeliveryHead[]
}

/**
 * Sends a claimed delivery. Never throws: if the message cannot be rendered, the outcome is `broken` and contains the
 * reason.
 */
export async function attemptDelivery(
  deps: DeliveryDeps,
  claimed: Claimed,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const { delivery } = claimed
  let context: LiveContext | null = null
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ATTEMPT_TIMEOUT_MS)
  try {
    const { channel, message } = channelAndMessage(deps, delivery)
    const signal = AbortSignal.any([stopping, late.signal])
    const work = workOf(deps, channel, { ...claimed, message }, signal)
    context = work.context
    const outcome = await work.run()
    if (outcome.verdict !== 'delivered' && stopping.aborted) return STOPPED
    return context.ended(outcome)
  } catch (error) {
    if (stopping.aborted) return STOPPED
    const outcome = late.signal.aborted ? TOO_LATE : outcomeOfError(error, deps.clock.now())
    if (!outcome) deps.report(context?.withoutSecrets(error) ?? error, delivery.id)
    return context?.ended(outcome ?? UNKNOWN) ?? { outcome: outcome ?? UNKNOWN, ...NOT_CALLED }
  } finally {
    clearTimeout(timer)
  }
}

const NOT_CALLED = { hung: false, answer: '', called: false, requests: [] }
const STOPPED: AttemptResult = { outcome: { verdict: 'stopped' }, ...NOT_CALLED }
const TOO_LATE: Outcome = {
  verdict: 'retry',
  reason: `not completed within ${ATTEMPT_TIMEOUT_MS / 1000} s`,
  retryAfterMs: null,
}
// Omits the error because it may quote the message.
const UNKNOWN: Outcome = {
  verdict: 'broken',
  reason: 'the message could not be rendered; see the server log',
}

function channelAndMessage(
  { channels = CHANNELS }: DeliveryDeps,
  delivery: DeliveryRecord,
): { channel: Channel; message: Message } {
  const { channelType } = delivery
  const channel = findByType(channels, channelType)
  if (!channel) throw new AppError('invalid', `${channelType} is not available in this version`)
  const message = messageOfDelivery(delivery)
  if (!message) throw new AppError('invalid', 'the stored message is corrupt')
  return { channel, message }
}

interface Work {
  context: LiveContext
  run(): Promise<Outcome>
}

/**
 * Serializes attempts for one message in one channel, so that each attempt sees the provider memory saved by the
 * previous one.
 */
function workOf(
  deps: DeliveryDeps,
  channel: Channel,
  { delivery, others, message }: Claimed & { message: Message },
  signal: AbortSignal,
): Work {
  const { transition, issueId, channelType, channelTarget } = delivery
  const serialized = (run: () => Promise<Outcome>) =>
    issueId === null ? run() : runExclusive(deps.db, lockKeyOf(deps.db, { issueId, channelType, channelTarget }), run)

  const how = deliveryTo(deps.db, channel, channelTarget)
  if (others.length > 0 && how.openings === 'grouped') {
    const members = [delivery, ...others].sort((one, other) => one.seq - other.seq)
    const context = new LiveGroupContext(deps, channel, members, signal)
    assertUsable(context)
    return { context, run: () => serialized(() => how.deliverGroup(context, context.members)) }
  }
  const context = new LiveDeliveryContext(deps, channel, delivery, signal)
  if (transition === 'test') return { context, run: () => how.test(context, message) }
  assertUsable(context)
  return {
    context,
    async run() {
      const whole = how.usesHistory ? ((await deps.enricher?.enrich(delivery, message, signal)) ?? message) : message
      return serialized(() => how.deliver(context, whole))
    },
  }
}

const UNUSABLE = {
  incomplete: 'the integration is incomplete; finish setting it up first',
  reauth_required: 'the integration must be reconnected: sign in to the other service again',
  disabled: 'disabled by the other service; send a successful test or save new settings to enable it again',
}

/** Fails with `Unusable` if nothing can be sent while the integration has this status. */
export function assertUsable({ status }: { status: string }): void {
  if (status === 'incomplete' || status === 'reauth_required' || status === 'disabled') {
    throw new Unusable(status, UNUSABLE[status])
  }
}
