import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Db } from '../../store/database.ts'
import type { LiveContext } from '../context/live-context.ts'
import type { Message } from '../message/message.ts'
import { type AttemptResult, type Outcome, outcomeOfError, Unusable } from '../outcome.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { Provider } from '../providers/provider.ts'
import { findProvider } from '../targets.ts'
import type { Transport } from '../transport/transport.ts'
import { type DeliveryRecord, messageOfDelivery } from './delivery.ts'
import { LiveDeliveryContext, LiveGroupContext } from './delivery-context.ts'
import { type DeliveryHead, lockKeyOf } from './grouping.ts'
import type { MessageEnricher } from './message-enricher.ts'

/** What deliveries are sent with. */
export interface DeliveryDeps {
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
  /** Completes messages with what the event history knows; absent: they are told without it. */
  enricher?: Pick<MessageEnricher, 'enrich'>
}

/** An attempt of several steps that takes longer is ended, and tried again from its last checkpoint. */
const ATTEMPT_TIMEOUT_MS = 120_000

/** A claimed delivery, and those that go with it as one message: openings of one group, in their order. */
export interface Claimed {
  delivery: DeliveryRecord
  others: readonly DeliveryHead[]
}

/** Sends what was claimed. Never throws: what can't be rendered is broken, with the reason. */
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
    const { provider, message } = providerAndMessage(deps, delivery)
    const signal = AbortSignal.any([stopping, late.signal])
    const work = workOf(deps, provider, { ...claimed, message }, signal)
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

const NOT_CALLED = { hung: false, answer: '', called: false }
const STOPPED: AttemptResult = { outcome: { verdict: 'stopped' }, ...NOT_CALLED }
const TOO_LATE: Outcome = {
  verdict: 'retry',
  reason: `not done within ${ATTEMPT_TIMEOUT_MS / 1000} s`,
  retryAfterMs: null,
}
// The error itself may quote what could not be read.
const UNKNOWN: Outcome = { verdict: 'broken', reason: 'it could not be rendered; the log of the server says more' }

function providerAndMessage(
  { providers = PROVIDERS }: DeliveryDeps,
  delivery: DeliveryRecord,
): { provider: Provider; message: Message } {
  const { channelType } = delivery
  const provider = findProvider(providers, channelType)
  if (!provider) throw new AppError('invalid', `${channelType} is not available in this version`)
  const message = messageOfDelivery(delivery)
  if (!message) throw new AppError('invalid', 'the stored message is damaged')
  return { provider, message }
}

interface Work {
  context: LiveContext
  run(): Promise<Outcome>
}

/** Whatever is done about one message at one channel is done one after the other: each sees what the last remembered. */
function workOf(
  deps: DeliveryDeps,
  provider: Provider,
  { delivery, others, message }: Claimed & { message: Message },
  signal: AbortSignal,
): Work {
  const { transition, issueId, channelType, channelTarget } = delivery
  const { test, deliver, deliverGroup } = provider
  const inTurn = (run: () => Promise<Outcome>) =>
    issueId === null ? run() : runExclusive(deps.db, lockKeyOf(deps.db, { issueId, channelType, channelTarget }), run)

  if (others.length > 0 && deliverGroup) {
    const members = [delivery, ...others].sort((one, other) => one.seq - other.seq)
    const context = new LiveGroupContext(deps, provider, members, signal)
    assertUsable(context)
    return { context, run: () => inTurn(() => deliverGroup(context, context.members)) }
  }
  const context = new LiveDeliveryContext(deps, provider, delivery, signal)
  if (transition === 'test' && test) return { context, run: () => test(context) }
  if (!deliver) throw new AppError('invalid', `${channelType} is no channel`)
  if (transition !== 'test') assertUsable(context)
  const history = provider.omitsHistory ? null : deps.enricher
  return {
    context,
    async run() {
      const whole = (await history?.enrich(delivery, message, signal)) ?? message
      return inTurn(() => deliver(context, whole))
    },
  }
}

const UNUSABLE = {
  incomplete: 'something has to be chosen in the integration first',
  reauth_required: 'the integration has to be connected anew: somebody has to sign in at the other side',
  disabled: 'the other side wants no more; a test that arrives, or new settings, begin anew',
}

/** Fails with `Unusable` while nothing may go through the integration. */
export function assertUsable({ status }: { status: string }): void {
  if (status === 'incomplete' || status === 'reauth_required' || status === 'disabled') {
    throw new Unusable(status, UNUSABLE[status])
  }
}
