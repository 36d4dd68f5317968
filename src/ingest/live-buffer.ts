import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'

/** Capture of a domain's live events remains enabled for this long after each read. */
export const ARMED_MS = 60 * SECOND_MS
/** Limits of each domain's buffer, in events and characters. A batch can be 1 MiB. */
const RING_LENGTH = 1000
const RING_CHARACTERS = 8 * 1024 * 1024

/** Result of reading a domain's live events. */
export interface LiveView {
  /** Sorted by `seq`. */
  events: StoredEvent[]
  /** `seq` of the last event, to be passed as `since` in the next call. Without events, the given `since`, or 0. */
  latestSeq: number
  armedUntil: Instant
  /** Number of events after `since` that have left the buffer before they were read. */
  skipped: number
}

interface Capture {
  armedUntil: Instant
  captured: { event: StoredEvent; characters: number }[]
  /** Number of events captured so far, including those that have left the buffer. */
  total: number
  /** For the most recent positions at which readers stopped: `seq`, and the number of events captured up to it. */
  marks: Map<number, number>
}

/** Maximum number of positions of readers. */
const MAX_MARKS = 100

/**
 * Buffers the latest events of domains that are being watched. Each read enables capture for a minute, so unwatched
 * domains cost nothing. The buffer is discarded when capture ends.
 */
export class LiveBuffer {
  private readonly captures = new Map<string, Capture>()

  /**
   * @param delayMs time for which events are withheld, because other processes send events of the same domain later.
   * Readers continue after the highest number and would miss these.
   */
  constructor(
    private readonly clock: Clock,
    private readonly delayMs: () => number = () => 0,
  ) {}

  /** Returns the ids of the domains that are being watched. */
  watched(): string[] {
    const now = this.clock.now()
    return [...this.captures].flatMap(([id, { armedUntil }]) => (armedUntil < now ? [] : [id]))
  }

  /**
   * Adds events to their domain's buffer if the domain is being watched. Must be called once the events are on disk.
   * @param skipped number of events before these that can't be shown
   */
  add(domainId: string, events: readonly StoredEvent[], skipped = 0): void {
    if (this.captures.size === 0) return
    const capture = this.captures.get(domainId)
    if (!capture) return
    if (capture.armedUntil < this.clock.now()) {
      this.captures.delete(domainId)
      return
    }
    const { captured } = capture
    for (const event of events) {
      const characters = charactersOf(event)
      captured.push({ event: event.id === '' ? { ...event, id: `evt_${event.seq}` } : event, characters })
    }
    // Batches that were written together can be added in any order.
    captured.sort((a, b) => a.event.seq - b.event.seq)
    let [first, characters] = [captured.length, 0]
    while (first > 0 && captured.length - first < RING_LENGTH) {
      characters += captured[first - 1]?.characters ?? 0
      if (characters > RING_CHARACTERS) break
      first--
    }
    captured.splice(0, first)
    capture.total += events.length + skipped
  }

  /**
   * Enables capture for a minute. Returns the first `limit` events with `seq` above `since`, or the latest events if
   * `since` is null. After a pause of more than a minute, the buffer starts empty.
   */
  read(domainId: string, since: number | null, limit: number): LiveView {
    const now = this.clock.now()
    for (const [id, { armedUntil }] of this.captures) if (armedUntil < now) this.captures.delete(id)
    const capture = this.captures.get(domainId) ?? { armedUntil: 0, captured: [], total: 0, marks: new Map() }
    capture.armedUntil = now + ARMED_MS
    this.captures.set(domainId, capture)
    const delayMs = this.delayMs()
    const all = capture.captured.flatMap(({ event }) => (event.receivedAt <= now - delayMs ? [event] : []))
    const from = since === null ? Math.max(0, all.length - limit) : all.filter(({ seq }) => seq <= since).length
    const events = all.slice(from, from + limit)
    const latestSeq = events.at(-1)?.seq ?? since ?? 0
    const before = capture.total - capture.captured.length + from
    const skipped = Math.max(0, before - (capture.marks.get(since ?? -1) ?? before))
    markPosition(capture.marks, latestSeq, before + events.length)
    return { events, latestSeq, armedUntil: capture.armedUntil, skipped }
  }
}

function markPosition(marks: Capture['marks'], seq: number, passed: number): void {
  marks.delete(seq)
  marks.set(seq, passed)
  const [oldest] = marks.keys()
  if (marks.size > MAX_MARKS && oldest !== undefined) marks.delete(oldest)
}

/** Returns the approximate size of an event in characters, based on its parameters, path and title. */
export function charactersOf({ params, path, title }: StoredEvent): number {
  let characters = (path?.length ?? 0) + (title?.length ?? 0)
  for (const key in params) characters += key.length + (params[key]?.length ?? 0)
  return characters
}
