import { type Instant, SECOND_MS } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { newId } from '../../core/id.ts'
import { oneLine } from '../../core/text.ts'
import type { Db } from '../../store/database.ts'
import { requireConnector } from '../channel-targets.ts'
import { LiveContext, openConnected } from '../context/live-context.ts'
import { type Outcome, outcomeOfError, retryAfterS } from '../delivery-outcome.ts'
import type { IntegrationRecord } from '../integration.ts'
import { testMessage } from '../message/message.ts'
import type { Connector, SilentConnector } from '../providers/connector.ts'
import { updateIntegrationStatus } from '../store.ts'
import { laneOfIntegration } from './delivery-queues.ts'
import { findDelivery } from './delivery-store.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Lane } from './lane-scheduler.ts'

type AnySilent = SilentConnector<object, unknown, object, unknown>

interface TestDeps {
  dispatcher: Dispatcher
  connectors: readonly Connector[]
  publicUrl: string
}

/**
 * Tests an integration once, immediately. The returned id is null for integrations that do not send notifications,
 * because their tests are not logged as deliveries. Fails as `sendTest` does, and with `conflict` if the integration is
 * incomplete.
 */
export async function testIntegration(
  { dispatcher, connectors, publicUrl }: TestDeps,
  integration: IntegrationRecord,
): Promise<{ deliveryId: string | null }> {
  const connector = requireConnector(connectors, integration.provider)
  if (integration.status === 'incomplete')
    throw new AppError('conflict', 'the integration is incomplete; finish setting it up first')
  if (connector.notifies) return sendTest(dispatcher, integration, publicUrl)
  await testWithoutDelivery(dispatcher, connector, integration)
  return { deliveryId: null }
}

/**
 * Sends a test notification once, immediately. Returns the id of its delivery, which is logged like any other delivery.
 * Fails with `upstream` and the other service's response if the notification is not delivered, and with `conflict` if
 * no slot is free.
 */
export async function sendTest(
  dispatcher: Dispatcher,
  integration: IntegrationRecord,
  publicUrl: string,
): Promise<{ deliveryId: string }> {
  const { db, clock } = dispatcher.deps
  const lane = requireRoom(dispatcher, integration)
  const delivery = insertTest(db, integration, publicUrl, clock.now())
  let waitMs: number | null = null
  const once = (outcome: Outcome) => {
    waitMs = waitOf(outcome)
    return onlyOnce(outcome)
  }
  const { outcome, answer } = await dispatcher.send({ delivery, others: [] }, lane, once)
  if (outcome.verdict === 'broken') throw failure(outcome.reason, answer, waitMs)
  return { deliveryId: delivery.id }
}

function requireRoom(dispatcher: Dispatcher, integration: IntegrationRecord): Lane {
  const lane = laneOfIntegration(dispatcher.deps.db, integration)
  if (dispatcher.hasRoom(lane)) return lane
  throw new AppError('conflict', 'too many other deliveries are in progress; try again later')
}

/** Turns a retry into a permanent failure. The caller sees the result now, and a later retry would be unexpected. */
function onlyOnce(outcome: Outcome): Outcome {
  if (outcome.verdict === 'retry') return { verdict: 'broken', reason: outcome.reason }
  if (outcome.verdict === 'wait') return { verdict: 'broken', reason: 'rate-limited by the other service' }
  return outcome.verdict === 'stopped' ? { verdict: 'broken', reason: 'the server was stopped' } : outcome
}

/** Delay in ms requested by the other service. Null if it requested none. */
function waitOf(outcome: Outcome): number | null {
  if (outcome.verdict === 'wait') return outcome.waitMs
  return outcome.verdict === 'retry' ? outcome.retryAfterMs : null
}

/** Returns the error for a failed test. Includes the response, because a status code alone explains nothing. */
const failure = (reason: string, answer: string, waitMs: number | null) => {
  const detail = /^HTTP \d+$/.test(reason) ? oneLine(answer, 200) : ''
  return new AppError('upstream', `the test failed: ${reason}${detail ? ` (${detail})` : ''}`, retryAfterS(waitMs))
}

/** Time limit of a test without delivery. It is short because the caller waits for the result. */
const TEST_TIMEOUT_MS = 30 * SECOND_MS
const STOPPED: Outcome = { verdict: 'stopped' }
const TOO_LATE: Outcome = { verdict: 'broken', reason: `not completed within ${TEST_TIMEOUT_MS / SECOND_MS} s` }

async function testWithoutDelivery(
  dispatcher: Dispatcher,
  connector: AnySilent,
  integration: IntegrationRecord,
): Promise<void> {
  const { id } = integration
  const { deps, stopping } = dispatcher
  const late = AbortSignal.timeout(TEST_TIMEOUT_MS)
  const signal = AbortSignal.any([stopping, late])
  const context = new LiveContext(deps, connector, openConnected(deps, connector, integration), signal)
  const ending = () => (stopping.aborted ? STOPPED : late.aborted ? TOO_LATE : null)
  let waitMs: number | null = null
  const { outcome, answer } = await dispatcher.track(requireRoom(dispatcher, integration), async (ended) => {
    const first = await testOnce(connector, context, ending)
    waitMs = waitOf(first)
    const attempted = context.ended(onlyOnce(first))
    ended(attempted.hung)
    return attempted
  })
  updateIntegrationStatus(deps.db, id, outcome, { isTest: true })
  if (outcome.verdict === 'broken') throw failure(outcome.reason, answer, waitMs)
}

/** @param ending Returns the outcome if the signal was aborted, otherwise null. */
async function testOnce(connector: AnySilent, context: LiveContext, ending: () => Outcome | null): Promise<Outcome> {
  try {
    return await connector.test(context)
  } catch (error) {
    const outcome = ending() ?? outcomeOfError(error, context.now())
    if (outcome) return outcome
    throw context.withoutSecrets(error)
  }
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
