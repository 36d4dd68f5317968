import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { Db } from '../store/database.ts'
import { findDelivery } from './delivery-log.ts'
import type { Dispatcher } from './dispatcher.ts'
import { type IntegrationRecord, providerChannel } from './integration.ts'
import { testMessage } from './message.ts'
import { wayOf } from './queues.ts'

/**
 * Sends a test through an integration at once and once, and answers the id of its delivery, which is in the log like
 * any other. Fails with `upstream`, passing on what the other side said, when it did not arrive, and with `conflict`
 * while as much as may be is under way to its host.
 */
export async function sendTest(
  dispatcher: Dispatcher,
  integration: IntegrationRecord,
  publicUrl: string,
): Promise<{ deliveryId: string }> {
  const { db, clock } = dispatcher.delivering
  const { orgId, provider, id } = integration
  const way = wayOf(db, { orgId, channelType: providerChannel(provider).kind, channelTarget: id })
  if (!dispatcher.hasRoom(way)) {
    throw new AppError('conflict', 'other deliveries to this host are under way; try again when they have ended')
  }
  const delivery = insertTest(db, integration, publicUrl, clock.now())
  const { outcome, said } = await dispatcher.send(delivery, way, (result) => {
    // Whoever asked is told now; a repeat later would surprise them.
    if (result.verdict === 'retry') return { verdict: 'broken', reason: result.reason }
    return result.verdict === 'stopped' ? { verdict: 'broken', reason: 'the server was stopped' } : result
  })
  if (outcome.verdict !== 'broken') return { deliveryId: delivery.id }
  throw new AppError('upstream', `the test failed: ${outcome.reason}${said ? ` (${said})` : ''}`)
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
