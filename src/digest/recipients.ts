import { createHash } from 'node:crypto'
import type { Instant } from '../core/clock.ts'
import { digestRecipients } from '../integrations/providers/email-digest/recipients.ts'
import type { Db } from '../store/database.ts'
import { dueDay, isWeekly } from './schedule.ts'
import { keyOf, startedSince, subscribers } from './store.ts'
import type { Unsubscription } from './unsubscribe.ts'

/** Somebody who gets a digest. */
export interface Recipient {
  orgId: string
  /** The same for as long as it is the same person: a user's id, or that of an integration and, behind a blank, a hash of the address. */
  reader: string
  /** The integration; null for a member who subscribed. */
  integrationId: string | null
  address: string
  context: string
  hourUtc: number
  /** What a click ends. */
  leaving: Unsubscription
}

/** Returns all who get a digest at this moment: members who subscribed, and the addresses of integrations. */
export function recipients(db: Db): Recipient[] {
  return [
    ...subscribers(db).map(
      ({ orgId, userId, email, ...rest }): Recipient => ({
        ...{ ...rest, orgId, reader: userId, integrationId: null, address: email },
        leaving: { kind: 'digest', orgId, userId },
      }),
    ),
    ...digestRecipients(db).map(
      ({ orgId, id, address, context, hourUtc }): Recipient => ({
        ...{ orgId, reader: `${id} ${hashOf(address)}`, integrationId: id, address, context, hourUtc },
        leaving: { kind: 'digest', orgId, integrationId: id, address },
      }),
    ),
  ]
}

/** What is kept of a digest names nobody. */
const hashOf = (address: string) => createHash('sha256').update(address.toLowerCase()).digest('hex').slice(0, 32)

/** A reader whose digest is due and was not begun. */
export interface DueRecipient extends Recipient {
  day: number
  /** True when it is sent although nothing happened. */
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
