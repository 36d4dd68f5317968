import { DAY_MS } from '../core/clock.ts'
import { eventsText, sizeText, timeText } from '../core/text.ts'
import type { Db } from '../store/database.ts'
import { limitText, type WaitingLimit, waitingLimits } from '../store/retention-limits.ts'
import { type StoredEvents, storedEvents } from '../warehouse/inspect-warehouse-folder.ts'

/** Sentences about the shorter limits that wait: what they will delete, when, and how to confirm them. */
export function waitingDeletions(db: Db): string[] {
  return waitingLimits(db).map((limit) => {
    const { name, inForce, requested, appliesAt } = limit
    return `${limitText(name, requested)} is shorter than before (${limitText(name, inForce)}): ${deletedText(db, limit)}, at ${timeText(appliesAt)} or when you run "tagwarden retention --confirm". To keep the data, restore the longer setting and restart the server`
  })
}

function deletedText(db: Db, { name, requested, appliesAt }: WaitingLimit): string {
  const before = appliesAt - requested * DAY_MS
  if (name === 'retentionDays') return `it deletes ${eventsIn(storedEvents(db, before))}`
  if (name === 'runRetentionDays') return `it deletes screenshots and HARs of runs from before ${timeText(before)}`
  const { bytes } = storedEvents(db, Number.POSITIVE_INFINITY)
  const over = Math.max(0, bytes - requested)
  return over === 0 ? 'event files fit into it' : `it deletes about ${sizeText(over)} of the oldest data`
}

function eventsIn({ events, bytes, firstAt, lastAt }: StoredEvents): string {
  if (events === 0) return 'no events yet'
  return `${eventsText(events)} (${sizeText(bytes)}), received from ${timeText(firstAt)} to ${timeText(lastAt)}`
}
