import { useEffect, useRef, useState } from 'react'
import { getDomainQueryKey } from '#client/@tanstack/react-query.gen'
import { searchEvents, watchDomain } from '#client/sdk.gen'
import type { Domain, Event } from '#client/types.gen'
import { errorMessage } from '../../../api/api-error.ts'
import { queries } from '../../../api/queries.ts'
import { addEvents, EMPTY_TIMELINE, type LiveTimeline, resume } from './live-timeline.ts'

/** Polling interval. The server keeps live capture enabled while it is polled. */
const POLL_INTERVAL_MS = 1000
/** Events in one response. If there are more, the next request is sent immediately. */
const MAX_EVENTS = 500
/** Stored events that the timeline begins with. */
const FIRST_EVENTS = 100
export const HISTORY_MINUTES = 30

interface Live {
  timeline: LiveTimeline
  /** False until the stored events have been loaded. */
  isLoaded: boolean
  /** Error of the most recent request; null if it succeeded. */
  error: string | null
  isPaused: boolean
  pause(isPaused: boolean): void
}

/** The stored events of a domain from the last 30 minutes, followed by new events within about a second. */
export function useLiveEvents(id: string): Live {
  const [timeline, change] = useState(EMPTY_TIMELINE)
  const [isLoaded, loaded] = useState(false)
  const [error, fail] = useState<string | null>(null)
  const [isPaused, setPaused] = useState(false)
  const paused = useRef(false)
  useEffect(() => {
    const end = new AbortController()
    const add = (events: readonly Event[], skipped = 0) => {
      if (end.signal.aborted) return
      change((before) => addEvents(before, events, { isPaused: paused.current, skipped }))
      noteLastEvent(id, events)
    }
    const follow = async () => {
      let since: number | null = null
      while (!end.signal.aborted) {
        try {
          if (since === null) {
            // Capture begins first, so that no event falls between the two.
            since = (await watch(id, null, end.signal)).latestSeq
            add(await storedEvents(id, end.signal))
            loaded(true)
          }
          const { events, latestSeq, skipped } = await watch(id, since, end.signal)
          since = latestSeq
          add(
            events.map(({ event }) => event as unknown as Event),
            skipped,
          )
          fail(null)
          if (events.length === MAX_EVENTS) continue
        } catch (caught) {
          if (end.signal.aborted) return
          fail(errorMessage(caught))
        }
        if (document.hidden) {
          await untilVisible(end.signal)
          // Capture has ended in the meantime, so the stored events fill the gap.
          since = null
        } else await pauseFor(POLL_INTERVAL_MS, end.signal)
      }
    }
    void follow()
    return () => end.abort()
  }, [id])
  const pause = (isNow: boolean) => {
    paused.current = isNow
    setPaused(isNow)
    if (!isNow) change(resume)
  }
  return { timeline, isLoaded, error, isPaused, pause }
}

async function watch(id: string, since: number | null, signal: AbortSignal) {
  const query = { limit: MAX_EVENTS, ...(since !== null && { since }) }
  return (await watchDomain({ path: { id }, query, signal })).data
}

async function storedEvents(domainId: string, signal: AbortSignal): Promise<readonly Event[]> {
  const from = Date.now() - HISTORY_MINUTES * 60_000
  return (await searchEvents({ query: { domainId, from, limit: FIRST_EVENTS }, signal })).data.events
}

/** Keeps the head of the page in step with the timeline. */
function noteLastEvent(id: string, events: readonly Event[]): void {
  const at = events.reduce((latest, { receivedAt }) => Math.max(latest, receivedAt), 0)
  queries.setQueryData(getDomainQueryKey({ path: { id } }), (domain: Domain | undefined) =>
    domain && at > (domain.lastEventAt ?? 0) ? { ...domain, lastEventAt: at, status: 'active' as const } : domain,
  )
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      done()
    })
  })
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const look = () => !document.hidden && done()
    document.addEventListener('visibilitychange', look, { signal })
    signal.addEventListener('abort', () => done())
    look()
  })
}
