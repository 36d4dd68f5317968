import { createHash } from 'node:crypto'
import type { Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import { dueDay, isWeekly } from './digest-schedule.ts'
import { digestRecipients } from './email-digest-recipients.ts'
import { keyOf, startedSince, subscribers } from './store.ts'
import type { Unsubscription } from './unsubscribe.ts'

/** A recipient of digests. */
export interface Recipient {
  orgId: string
  /** Stable id: a user id, or the integration id and a hash of the e-mail address, separated by a space. */
  reader: string
  /** The integration; null for a subscribed member. */
  integrationId: string | null
  address: string
  context: string
  hourUtc: number
  /** The subscription that the unsubscribe link cancels. */
  unsubscription: Unsubscription
}

/** Returns all current recipients: subscribed members, and e-mail addresses in integrations. */
export function recipients(db: Db): Recipient[] {
  return [
    ...subscribers(db).map(
      ({ orgId, userId, email, ...rest }): Recipient => ({
        ...rest,
        orgId,
        reader: userId,
        integrationId: null,
        address: email,
        unsubscription: { kind: 'digest', orgId, userId },
      }),
    ),
    ...digestRecipients(db).map(
      ({ orgId, id, address, context, hourUtc }): Recipient => ({
        orgId,
        reader: `${id} ${hashOf(address)}`,
        integrationId: id,
        address,
        context,
        hourUtc,
        unsubscription: { kind: 'digest', orgId, integrationId: id, address },
      }),
    ),
  ]
}

/** Addresses are hashed because stored records must not contain e-mail addresses. */
const hashOf = (address: string) => createHash('sha256').update(address.toLowerCase()).digest('hex').slice(0, 32)

/** A recipient whose digest is due and has not been started. */
export interface DueRecipient extends Recipient {
  day: number
  /** True if the digest is sent even without activity. */
  isWeekly: boolean
}

export function dueRecipients(db: Db, now: Instant): DueRecipient[] {
  const due = recipients(db).flatMap((reader): DueRecipient[] => {
    const day = dueDay(reader.hourUtc, now)?.day
    return day === undefined ? [] : [{ ...reader, day, isWeekly: isWeekly(day) }]
  })
  if (due.length === 0) return []
  const begun = startedSince(db, Math.min(...due.map(({ day }) => day)))
  return due.filter((one) => !begun.has(keyOf(one)))
}
