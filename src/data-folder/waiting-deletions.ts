import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import { eventsText, sizeText, timeText } from '../core/text.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import { type Db, tx } from '../store/database.ts'
import { confirmLimits, limitText, type WaitingLimit, waitingLimits } from '../store/retention-limits.ts'
import { type StoredEvents, storedEvents } from '../warehouse/inspect-warehouse-folder.ts'

/** A shorter limit that waits, with the data that it will delete. */
export interface WaitingDeletion extends WaitingLimit {
  /** Data from before this time is deleted; null for the disk budget, which deletes the oldest data. */
  before: Instant | null
  /** Stored events that are deleted; null for the files of runs and for the disk budget. */
  events: StoredEvents | null
  /** Bytes that are deleted, approximately; null for the files of runs. */
  bytes: number | null
}

/**
 * Returns the shorter limits that wait. `eventsBefore` returns the events in files that end before a time; the default
 * reads the manifest.
 */
export function waitingDeletions(
  db: Db,
  eventsBefore: (before: Instant) => StoredEvents = (before) => storedEvents(db, before),
): WaitingDeletion[] {
  return waitingLimits(db).map((limit) => {
    const { name, requested, appliesAt } = limit
    if (name === 'diskBudget') {
      const { bytes } = eventsBefore(Number.POSITIVE_INFINITY)
      return { ...limit, before: null, events: null, bytes: Math.max(0, bytes - requested) }
    }
    const before = appliesAt - requested * DAY_MS
    if (name === 'runRetentionDays') return { ...limit, before, events: null, bytes: null }
    const events = eventsBefore(before)
    return { ...limit, before, events, bytes: events.bytes }
  })
}

/**
 * Applies all shorter limits that wait, and adds an entry for each to the audit log of every organization. Returns them.
 */
export function confirmDeletions(db: Db, clock: Clock): WaitingLimit[] {
  return tx(db, () => {
    const orgIds = db.prepare<[string], string>('SELECT id FROM org WHERE id <> ?').pluck().all(INTERNAL_ORG_ID)
    const confirmed = confirmLimits(db)
    for (const { name, inForce, requested } of confirmed) {
      const note = { via: 'command', limit: name, before: inForce, now: requested }
      for (const orgId of orgIds) writeAuditEntry(db, clock, { orgId, act: 'confirmRetention', note })
    }
    return confirmed
  })
}

/** Sentences about the shorter limits that wait: what they will delete, when, and how to confirm them. */
export function waitingDeletionTexts(db: Db): string[] {
  return waitingDeletions(db).map((waiting) => {
    const { name, inForce, requested, appliesAt } = waiting
    return `${limitText(name, requested)} is shorter than before (${limitText(name, inForce)}): ${deletedText(waiting)}, at ${timeText(appliesAt)} or when you run "tagwarden retention --confirm". To keep the data, restore the longer setting and restart the server`
  })
}

function deletedText({ before, events, bytes }: WaitingDeletion): string {
  if (events) return `it deletes ${eventsIn(events)}`
  if (before !== null) return `it deletes screenshots and HARs of runs from before ${timeText(before)}`
  return bytes ? `it deletes about ${sizeText(bytes)} of the oldest data` : 'event files fit into it'
}

function eventsIn({ events, bytes, firstAt, lastAt }: StoredEvents): string {
  if (events === 0) return 'no events yet'
  return `${eventsText(events)} (${sizeText(bytes)}), received from ${timeText(firstAt)} to ${timeText(lastAt)}`
}
