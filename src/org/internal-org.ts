import type { Clock } from '../core/clock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from '../store/database.ts'
import { newCustomerSalt, newWebhookSecret } from './org.ts'

/**
 * The organization of the server itself: it sends messages to the operator and receives canary events. It has no members,
 * so nobody sees it, and it is excluded from everything that counts or lists organizations.
 */
export const INTERNAL_ORG_ID = 'org_00000000000000000000000000'

/** Creates the internal organization if it does not exist. */
export function ensureInternalOrg(db: Db, box: SecretBox, clock: Clock): void {
  if (db.prepare('SELECT 1 FROM org WHERE id = ?').get(INTERNAL_ORG_ID)) return
  db.prepare(
    `INSERT INTO org (id, name, webhookSecret, customerSalt, createdAt)
     VALUES (@id, 'Tagwarden', @webhookSecret, @customerSalt, @createdAt)`,
  ).run({
    id: INTERNAL_ORG_ID,
    webhookSecret: box.seal(newWebhookSecret()),
    customerSalt: newCustomerSalt(),
    createdAt: clock.now(),
  })
}
