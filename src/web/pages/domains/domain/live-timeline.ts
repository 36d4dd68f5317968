import type { Event } from '#client/types.gen'

/** Maximum number of events that the timeline shows; the oldest are removed. */
export const MAX_SHOWN = 1000
/** Maximum number of events that wait while the timeline is paused; the oldest are removed. */
export const MAX_WAITING = 1000
/** Length of the strip above the timeline. */
const STRIP_SECONDS = 60

const SECOND_MS = 1000

/** The events of the live page. */
export interface LiveTimeline {
  /** Newest first. */
  shown: readonly Event[]
  /** Events that have arrived while the timeline was paused, newest first. */
  waiting: readonly Event[]
  /** Number of events that have left the timeline or that the server has skipped. They are still stored. */
  dropped: number
}

export const EMPTY_TIMELINE: LiveTimeline = { shown: [], waiting: [], dropped: 0 }

/** Adds events in any order; known ones are ignored. While paused, they wait. `skipped`: events the server left out. */
export function addEvents(
  timeline: LiveTimeline,
  events: readonly Event[],
  { isPaused, skipped = 0 }: { isPaused: boolean; skipped?: number },
): LiveTimeline {
  const { shown, waiting, dropped } = timeline
  const known = new Set([...shown, ...waiting].map(({ seq }) => seq))
  const added = events.filter(({ seq }) => !known.has(seq))
  if (added.length === 0 && skipped === 0) return timeline
  const [target, limit] = isPaused ? [waiting, MAX_WAITING] : [shown, MAX_SHOWN]
  const all = [...added, ...target].sort((a, b) => b.seq - a.seq)
  const left = all.slice(0, limit)
  const after = { shown, waiting, dropped: dropped + skipped + all.length - left.length }
  return isPaused ? { ...after, waiting: left } : { ...after, shown: left }
}

/** Shows the events that have waited. */
export const resume = ({ shown, waiting, dropped }: LiveTimeline): LiveTimeline =>
  addEvents({ shown, waiting: [], dropped }, waiting, { isPaused: false })

/** Filters of the timeline; empty ones match every event. */
export interface LiveFilters {
  q: string
  vendor: readonly string[]
  event: readonly string[]
}

/** Returns the events that match all filters. The text is searched in names, page, parameters and values. */
export function filterEvents(events: readonly Event[], { q, vendor, event }: LiveFilters): readonly Event[] {
  const text = q.trim().toLowerCase()
  return events.filter(
    (one) =>
      (vendor.length === 0 || vendor.includes(one.vendor)) &&
      (event.length === 0 || event.includes(one.event)) &&
      (text === '' || includesText(one, text)),
  )
}

function includesText({ event, vendor, host, path, params }: Event, text: string): boolean {
  const matches = (value: string) => value.toLowerCase().includes(text)
  if (matches(event) || matches(vendor) || matches(`${host ?? ''}${path ?? ''}`)) return true
  return Object.entries(params).some(([key, value]) => matches(`${key}=${value}`))
}

/** The events of one second. */
export interface LiveSecond {
  /** Start of the second, in milliseconds since the epoch. */
  at: number
  events: number
  /** Number of events that violate a rule. */
  violating: number
}

/** Returns the last 60 seconds before `now`, oldest first. */
export function secondsBefore(events: readonly Event[], now: number): LiveSecond[] {
  const end = Math.floor(now / SECOND_MS)
  const seconds = Array.from({ length: STRIP_SECONDS }, (_, index) => ({
    at: (end - STRIP_SECONDS + 1 + index) * SECOND_MS,
    events: 0,
    violating: 0,
  }))
  for (const { receivedAt, violations } of events) {
    const second = seconds[Math.floor(receivedAt / SECOND_MS) - end + STRIP_SECONDS - 1]
    if (!second) continue
    second.events++
    if (violations && violations.length > 0) second.violating++
  }
  return seconds
}

/** The distinct values of a field, sorted, with those that are selected. */
export const valuesOf = (events: readonly Event[], name: 'vendor' | 'event', selected: readonly string[]): string[] =>
  [...new Set([...events.map((event) => event[name]), ...selected])].filter(Boolean).sort()
