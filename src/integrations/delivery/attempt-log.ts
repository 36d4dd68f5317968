import { SECOND_MS } from '../../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../../core/schema.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { may } from '../../http/permission.ts'
import type { Principal } from '../../http/principal.ts'
import { type Db, prepared } from '../../store/database.ts'
import { type SentRequest, SentRequestSchema } from '../context/sent-request.ts'
import type { Outcome, TimedAttemptResult } from '../delivery-outcome.ts'
import { type DeliveryRecord, DeliverySchema, describeDelivery } from './delivery.ts'

const OUTCOMES = ['delivered', 'retry', 'broken', 'stopped'] as const

const AttemptSchema = Closed({
  at: InstantSchema,
  durMs: Int({ description: 'Time until the response was processed, in ms; 0 if the server was killed' }),
  outcome: OneOf(OUTCOMES, {
    description:
      '`retry`: another attempt may succeed; `broken`: another attempt would also fail; `stopped`: the server was stopped',
  }),
  reason: Nullable(
    Type.String({
      description: 'Reason for the failure, or a problem that did not prevent the delivery; null if there was none',
    }),
  ),
  answer: Nullable(
    Type.String({
      maxLength: 500,
      description:
        'Start of the response, with secrets removed; null without a response and for callers below the admin role',
    }),
  ),
  requests: Type.Optional(
    Type.Array(SentRequestSchema, {
      description:
        'Requests of the attempt, in order, at most 10; absent for older attempts, and for callers below the admin role',
    }),
  ),
})
type LoggedAttempt = Static<typeof AttemptSchema>

export const DeliveryDetailSchema = Closed(
  {
    ...DeliverySchema.properties,
    log: Type.Array(AttemptSchema, { description: 'Most recent 100 attempts, oldest first' }),
  },
  {
    $id: 'DeliveryDetail',
    examples: DeliverySchema.examples.map((delivery: object) => ({
      ...delivery,
      log: [
        {
          at: 1_767_614_401_000,
          durMs: 212,
          outcome: 'delivered',
          reason: null,
          answer: 'ok',
          requests: [
            {
              method: 'POST',
              target: 'https://hooks.example.com/***',
              headers: { 'content-type': 'application/json', 'webhook-id': 'dlv_01ke7k3h40c8s5d2w7y1g9f3qn' },
              body: '{"type":"issue.opened"}',
              bodyLength: 23,
              durMs: 209,
              status: 200,
              response: 'ok',
            },
          ],
        },
      ],
    })),
  },
)

/** Maximum number of attempts stored per delivery. Older ones are deleted. */
const MAX_LOGGED_ATTEMPTS = 100
/** Maximum number of attempts per delivery whose requests are stored. */
const MAX_LOGGED_REQUESTS = 10

/**
 * Logs an attempt for each of these deliveries, which were sent in one message. Attempts that were skipped because of a
 * known rate limit are not logged.
 */
export function logAttempt(
  db: Db,
  deliveryIds: readonly string[],
  { outcome, answer, at, durMs, called, requests }: TimedAttemptResult,
): void {
  if (outcome.verdict === 'wait' && !called) return
  const entry = { at, durMs, answer: answer === '' ? null : answer, ...entryOf(outcome) }
  let sentWith: number | bigint | null = null
  for (const deliveryId of deliveryIds) {
    const isFirst = sentWith === null
    const stored = isFirst && requests.length > 0 ? JSON.stringify(requests) : null
    const { changes, lastInsertRowid } = insertAttempt(db, { deliveryId, ...entry, requests: stored, sentWith })
    if (isFirst && changes > 0) sentWith = lastInsertRowid
    deleteOldAttempts(db, deliveryId)
  }
}

function insertAttempt(db: Db, row: object): { changes: number; lastInsertRowid: number | bigint } {
  return prepared(
    db,
    `INSERT INTO deliveryAttempt (deliveryId, at, durMs, outcome, reason, answer, requests, sentWith)
     SELECT id, @at, @durMs, @outcome, @reason, @answer, @requests, @sentWith FROM delivery WHERE id = @deliveryId`,
  ).run(row)
}

function deleteOldAttempts(db: Db, deliveryId: string): void {
  prepared(
    db,
    `UPDATE deliveryAttempt SET requests = NULL, sentWith = NULL
     WHERE deliveryId = @deliveryId AND (requests IS NOT NULL OR sentWith IS NOT NULL) AND seq <= (
       SELECT seq FROM deliveryAttempt WHERE deliveryId = @deliveryId ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_LOGGED_REQUESTS})`,
  ).run({ deliveryId })
  prepared(
    db,
    `DELETE FROM deliveryAttempt WHERE deliveryId = @deliveryId AND seq <= (
       SELECT seq FROM deliveryAttempt WHERE deliveryId = @deliveryId ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_LOGGED_ATTEMPTS})`,
  ).run({ deliveryId })
}

function entryOf(outcome: Outcome): Pick<LoggedAttempt, 'outcome' | 'reason'> {
  switch (outcome.verdict) {
    case 'delivered':
      return { outcome: 'delivered', reason: outcome.note }
    case 'stopped':
      return { outcome: 'stopped', reason: 'the server was stopped' }
    case 'wait':
      return {
        outcome: 'retry',
        reason: `rate-limited by the other service for ${Math.ceil(outcome.waitMs / SECOND_MS)} s`,
      }
    default:
      return { outcome: outcome.verdict, reason: outcome.reason }
  }
}

/** Logs attempts interrupted by a crash. Call this before making their deliveries pending again. */
export function logKilled(db: Db): void {
  db.prepare(
    `INSERT INTO deliveryAttempt (deliveryId, at, durMs, outcome, reason)
     SELECT id, ifnull(lastAttemptAt, createdAt), 0, 'stopped', 'the server was killed' FROM delivery WHERE status = 'sending'`,
  ).run()
}

/** Describes a delivery and its attempts. Requests and responses are visible to admins only. */
export function describeDeliveryDetail(
  { db, box }: { db: Db; box: SecretBox },
  record: DeliveryRecord,
  principal: Principal,
) {
  const log = prepared<[string], Omit<LoggedAttempt, 'requests'> & { requests: string | null }>(
    db,
    `SELECT at, durMs, outcome, reason, answer,
       ifnull(requests, (SELECT requests FROM deliveryAttempt AS sent WHERE sent.seq = deliveryAttempt.sentWith)) AS requests
     FROM deliveryAttempt WHERE deliveryId = ? ORDER BY seq`,
  ).all(record.id)
  const seesAnswers = may(principal, 'seeSettings')
  return {
    ...describeDelivery(box, record, principal),
    log: log.map(({ requests, ...entry }): LoggedAttempt => {
      if (!seesAnswers) return { ...entry, answer: null }
      return requests === null ? entry : { ...entry, requests: JSON.parse(requests) as SentRequest[] }
    }),
  }
}
