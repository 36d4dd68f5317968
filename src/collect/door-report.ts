import type { Report } from '../collectors/protocol.ts'
import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { charactersOf } from '../ingest/live-buffer.ts'
import { joinGaps, MIN_GAP_MS } from '../signals/gap.ts'

/** Limits of the live events in a report: number for each domain, and characters in total. */
const MAX_LIVE_EVENTS = 100
const MAX_LIVE_CHARACTERS = 2 * 1024 * 1024

/**
 * Observations about requests that are not stored in segments. They are sent with the next contact to the control node.
 * All but live events are repeated until they have arrived.
 */
export class DoorReport {
  private readonly firstEvents = new Map<string, Instant>()
  private readonly legacyScripts = new Set<string>()
  private refused: Report['refused'] = []
  /** When the last batch was rejected, if none has been stored since. */
  private refusedAt: Instant | null = null
  private watched: ReadonlySet<string> = new Set()
  private readonly live = new Map<string, { events: StoredEvent[]; skipped: number }>()

  /** To be called with the first events of a domain since the start. */
  firstEvent(domainId: string, receivedAt: Instant): void {
    this.firstEvents.set(domainId, receivedAt)
  }

  /** To be called when a page loads the capture script of a domain from its earlier address. */
  legacyScript(domainId: string): void {
    this.legacyScripts.add(domainId)
  }

  /** To be called when a batch could not be stored and has been rejected. */
  refusedBatch(receivedAt: Instant): void {
    const last = this.refused.at(-1)
    const span = { fromAt: receivedAt, toAt: receivedAt + 1 }
    const joined = last && joinGaps({ ...last, cause: 'refused' }, { ...span, cause: 'refused' })
    this.refusedAt = receivedAt
    if (joined) this.refused.splice(-1, 1, { fromAt: joined.fromAt, toAt: joined.toAt })
    else this.refused.push(span)
  }

  /** To be called when a batch has been stored. */
  storedBatch(receivedAt: Instant): void {
    if (this.refusedAt === null) return
    this.extend(receivedAt)
    this.refusedAt = null
  }

  /** Sets the domains whose live view is open. */
  watch(domainIds: readonly string[]): void {
    this.watched = new Set(domainIds)
    for (const id of this.live.keys()) if (!this.watched.has(id)) this.live.delete(id)
  }

  /** To be called with stored events. */
  add(domainId: string, events: readonly StoredEvent[]): void {
    if (!this.watched.has(domainId)) return
    const relayed = this.live.get(domainId) ?? { events: [], skipped: 0 }
    this.live.set(domainId, relayed)
    relayed.events.push(...events)
    const excess = Math.max(0, relayed.events.length - MAX_LIVE_EVENTS)
    relayed.events.splice(0, excess)
    relayed.skipped += excess
  }

  /**
   * Returns what has not been reported yet. A period of rejected batches that still lasts ends at `now`, or two minutes
   * after the last batch, because nothing tells whether the next one could be stored.
   */
  take(now: Instant): Report {
    if (this.refusedAt !== null) {
      const end = this.refusedAt + MIN_GAP_MS
      this.extend(Math.min(now, end))
      if (now > end) this.refusedAt = null
    }
    const report = {
      firstEvents: [...this.firstEvents].map(([domainId, receivedAt]) => ({ domainId, receivedAt })),
      legacyScripts: [...this.legacyScripts],
      refused: this.refused,
      live: this.takeLive(),
    }
    this.firstEvents.clear()
    this.legacyScripts.clear()
    this.refused = this.refusedAt === null ? [] : this.refused.slice(-1)
    return report
  }

  /** Adds a report again that has not arrived, without its live events. */
  restore({ firstEvents, legacyScripts, refused }: Report): void {
    for (const { domainId, receivedAt } of firstEvents) this.firstEvents.set(domainId, receivedAt)
    for (const id of legacyScripts) this.legacyScripts.add(id)
    const isReported = new Set(this.refused.map(({ fromAt }) => fromAt))
    this.refused.unshift(...refused.filter(({ fromAt }) => !isReported.has(fromAt)))
  }

  private extend(toAt: Instant): void {
    const last = this.refused.at(-1)
    if (last && toAt > last.toAt) this.refused.splice(-1, 1, { ...last, toAt })
  }

  private takeLive(): Report['live'] {
    let characters = 0
    const taken = [...this.live].map(([domainId, { events, skipped }]) => {
      const kept = events.filter((event) => {
        characters += charactersOf(event)
        return characters <= MAX_LIVE_CHARACTERS
      })
      return { domainId, events: kept, skipped: skipped + events.length - kept.length }
    })
    this.live.clear()
    return taken
  }
}
