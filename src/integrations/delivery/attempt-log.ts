import { SECOND_MS } from '../../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../../core/schema.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { may } from '../../http/permission.ts'
import type { Principal } from '../../http/principal.ts'
import { type Db, prepared } from '../../store/database.ts'
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
      log: [{ at: 1_767_614_401_000, durMs: 212, outcome: 'delivered', reason: null, answer: 'ok' }],
    })),
  },
)

/** Maximum number of attempts stored per delivery. Older ones are deleted. */
const MAX_LOGGED_ATTEMPTS = 100

/** Logs an attempt, unless it was skipped because of a known rate limit. */
export function logAttempt(
  db: Db,
  deliveryId: string,
  { outcome, answer, at, durMs, called: asked }: TimedAttemptResult,
): void {
  const entry = entryOf(outcome)
  if (outcome.verdict === 'wait' && !asked) return
  prepared(
    db,
    `INSERT INTO deliveryAttempt (deliveryId, at, durMs, outcome, reason, answer)
     SELECT id, @at, @durMs, @outcome, @reason, @answer FROM delivery WHERE id = @deliveryId`,
  ).run({ deliveryId, at, durMs, answer: answer === '' ? null : answer, ...entry })
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

/** Describes a delivery and its attempts. Responses are visible to admins only. */
export function describeDeliveryDetail(
  { db, box }: { db: Db; box: SecretBox },
  record: DeliveryRecord,
  principal: Principal,
) {
  const log = prepared<[string], LoggedAttempt>(
    db,
    'SELECT at, durMs, outcome, reason, answer FROM deliveryAttempt WHERE deliveryId = ? ORDER BY seq',
  ).all(record.id)
  const seesAnswers = may(principal, 'seeSettings')
  return {
    ...describeDelivery(box, record, principal),
    log: seesAnswers ? log : log.map((entry) => ({ ...entry, answer: null })),
  }
}
