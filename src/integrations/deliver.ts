import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { openWebhookSecret } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { type Channel, type OrgFacts, verdictOf } from './channels/channel.ts'
import { channelOf, isIntegrationId } from './channels/index.ts'
import { type DeliveryRecord, messageOfDelivery, retryAfterMs } from './delivery.ts'
import { findDelivery } from './delivery-log.ts'
import type { IntegrationRecord } from './integration.ts'
import { testMessage } from './message.ts'
import { oneLine } from './one-line.ts'
import { takeDue } from './outbox.ts'
import { type Outcome, settle } from './settle.ts'
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
  /** Told of what is a bug or a damaged row, not a refusal; the delivery is settled all the same. */
  report: (error: unknown, deliveryId: string) => void
}

export interface DeliverLimits {
  /** Deliveries sent at the same time. */
  parallel?: number
  /** Deliveries of one call. */
  most?: number
  /** Aborted when the program stops: nothing more is taken, what is under way becomes pending again. */
  signal?: AbortSignal
}

const PARALLEL = 8
const MOST = 1000
/** How often it is looked for what has become due while another attempt waits for its answer. */
const LOOK_AGAIN_MS = 250

/**
 * Sends what is due until nothing is and nothing is under way, and answers how many attempts were made: a receiver that
 * hangs keeps others waiting only when `parallel` of them hang. One call at a time: the store keeps two from sending the
 * same, but not from sending more at once than they should. Fails only when the store does.
 */
export async function deliverDue(
  delivering: Delivering,
  { parallel = PARALLEL, most = MOST, signal = new AbortController().signal }: DeliverLimits = {},
): Promise<number> {
  let attempts = 0
  const underWay = new Set<Promise<unknown>>()
  const work = async () => {
    while (attempts < most && !signal.aborted) {
      const [delivery] = takeDue(delivering.db, delivering.clock.now(), 1)
      if (delivery) {
        attempts++
        const sending = attempt(delivering, delivery, signal).finally(() => underWay.delete(sending))
        underWay.add(sending)
        const { outcome } = await sending
        settle(delivering.db, delivery, outcome, { ...delivering, now: delivering.clock.now() })
      } else if (underWay.size > 0) await Promise.race([...underWay, Bun.sleep(LOOK_AGAIN_MS)])
      else return
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: parallel }, work))
  const broken = workers.find((worker) => worker.status === 'rejected')
  if (broken) throw broken.reason
  return attempts
}

interface Attempted {
  outcome: Outcome
  /** The beginning of what the other side said, for admins only; empty when it said nothing. */
  said: string
}

/** Sends one claimed delivery. Never throws: what can't be rendered is broken, with the reason. */
async function attempt(delivering: Delivering, delivery: DeliveryRecord, signal: AbortSignal): Promise<Attempted> {
  const { clock, transport, report } = delivering
  try {
    const { channel, outbound } = render(delivering, delivery)
    const reply = await transport.send(outbound, signal)
    const outcome = outcomeOf(channel, outbound, reply, clock.now())
    if (outcome.verdict !== 'delivered' && signal.aborted) return { outcome: { verdict: 'stopped' }, said: '' }
    return { outcome, said: reply.kind === 'status' ? oneLine(reply.body, 200) : '' }
  } catch (error) {
    if (error instanceof AppError) return { outcome: { verdict: 'broken', reason: error.message }, said: '' }
    report(error, delivery.id)
    // The error itself may quote what could not be read.
    return {
      outcome: { verdict: 'broken', reason: 'it could not be rendered; the log of the server says more' },
      said: '',
    }
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

/**
 * Sends a test through an integration at once and once, and answers the id of its delivery, which is in the log like
 * any other. Fails with `upstream`, passing on what the other side said, when it did not arrive.
 */
export async function sendTest(
  delivering: Delivering,
  integration: IntegrationRecord,
  publicUrl: string,
): Promise<{ deliveryId: string }> {
  const { db, clock } = delivering
  const delivery = insertTest(db, integration, publicUrl, clock.now())
  const { outcome, said } = await attempt(delivering, delivery, new AbortController().signal)
  // Whoever asked is told now; a repeat later would surprise them.
  const final: Outcome = outcome.verdict === 'retry' ? { verdict: 'broken', reason: outcome.reason } : outcome
  settle(db, delivery, final, { ...delivering, now: clock.now() })
  if (final.verdict !== 'broken') return { deliveryId: delivery.id }
  throw new AppError('upstream', `the test failed: ${final.reason}${said ? ` (${said})` : ''}`)
}

function insertTest(db: Db, { id, orgId, provider, label }: IntegrationRecord, publicUrl: string, now: Instant) {
  const deliveryId = newId('dlv', now)
  const message = JSON.stringify(testMessage({ at: now, publicUrl, label }))
  db.prepare(
    `INSERT INTO delivery (id, orgId, transition, noticeKey, transitionKey, channelType, channelTarget, message, status,
       attempts, dueAt, lastAttemptAt, createdAt)
     VALUES (@deliveryId, @orgId, 'test', @deliveryId, @deliveryId, @provider, @id, @message, 'sending', 1, @now, @now, @now)`,
  ).run({ deliveryId, orgId, provider, id, message, now })
  return findDelivery(db, orgId, deliveryId)
}
