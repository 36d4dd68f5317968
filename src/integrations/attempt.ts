import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { openWebhookSecret } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { type Channel, type OrgFacts, verdictOf } from './channels/channel.ts'
import { channelOf, isIntegrationId } from './channels/index.ts'
import { type DeliveryRecord, messageOfDelivery, retryAfterMs } from './delivery.ts'
import { oneLine } from './one-line.ts'
import type { Outcome } from './outcome.ts'
import { openSettings, providerOf } from './store.ts'
import type { Outbound, Reply, Transport } from './transport.ts'

export interface Delivering {
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
}

export interface Attempted {
  outcome: Outcome
  /** No answer came in time. */
  hung: boolean
  /** The beginning of what the other side said, for admins only; empty when it said nothing. */
  said: string
}

/** Sends one claimed delivery. Never throws: what can't be rendered is broken, with the reason. */
export async function attempt(
  delivering: Delivering,
  delivery: DeliveryRecord,
  signal: AbortSignal,
): Promise<Attempted> {
  const { clock, transport, report } = delivering
  try {
    const { channel, outbound } = render(delivering, delivery)
    const reply = await transport.send(outbound, signal)
    const outcome = outcomeOf(channel, outbound, reply, clock.now())
    if (outcome.verdict !== 'delivered' && signal.aborted)
      return { outcome: { verdict: 'stopped' }, hung: false, said: '' }
    if (reply.kind === 'error') return { outcome, hung: reply.hung === true, said: '' }
    return { outcome, hung: false, said: oneLine(reply.body, 200) }
  } catch (error) {
    const broken = (reason: string): Attempted => ({ outcome: { verdict: 'broken', reason }, hung: false, said: '' })
    if (error instanceof AppError) return broken(error.message)
    report(error, delivery.id)
    // The error itself may quote what could not be read.
    return broken('it could not be rendered; the log of the server says more')
  }
}

function render(
  { db, box, clock }: Delivering,
  delivery: DeliveryRecord,
): { channel: Channel<object>; outbound: Outbound } {
  const { id, orgId, channelType, channelTarget } = delivery
  const channel = channelOf(channelType)
  if (!channel) throw new AppError('invalid', `${channelType} is not available in this version`)
  const message = messageOfDelivery(delivery)
  if (!message) throw new AppError('invalid', 'the stored message is damaged')
  const config = configOf(db, box, channel, { orgId, target: channelTarget })
  return { channel, outbound: channel.render(message, config, { deliveryId: id, at: clock.now() }) }
}

function configOf(
  db: Db,
  box: SecretBox,
  channel: Channel<object>,
  { orgId, target }: { orgId: string; target: string },
) {
  if (!isIntegrationId(target) || !channel.config) return channel.configOf(target, orgFacts(db, box, orgId))
  const key = { orgId, id: target }
  if (providerOf(db, key) !== channel.kind) throw new AppError('invalid', 'the integration was deleted')
  return openSettings(db, box, key)
}

function orgFacts(db: Db, box: SecretBox, orgId: string): OrgFacts {
  return {
    webhookSecret: () => openWebhookSecret(db, box, orgId),
    ownerAddresses: () =>
      db
        .prepare<[string], { email: string }>(
          `SELECT email FROM member JOIN user ON user.id = member.userId
           WHERE orgId = ? AND role = 'owner' AND inviteHash IS NULL ORDER BY member.createdAt, userId`,
        )
        .all(orgId)
        .map(({ email }) => email),
  }
}

/** What an answer means for the delivery. */
export function outcomeOf(channel: Channel<object>, outbound: Outbound, reply: Reply, now: Instant): Outcome {
  const verdict = channel.verdict?.(reply) ?? verdictOf(reply)
  if (verdict === 'delivered') {
    const note = outbound.kind === 'mail' && reply.kind === 'status' && reply.body !== '' ? reply.body : null
    return { verdict, note }
  }
  const reason = reasonOf(reply)
  if (verdict === 'broken') return { verdict, reason }
  return {
    verdict,
    reason,
    retryAfterMs: reply.kind === 'status' ? retryAfterMs(reply.headers['retry-after'], now) : null,
  }
}

function reasonOf(reply: Reply): string {
  if (reply.kind === 'error') return reply.message
  const redirected = reply.status >= 300 && reply.status < 400
  return redirected ? `HTTP ${reply.status}: redirects are not followed` : `HTTP ${reply.status}`
}
