import { DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { eventSearch } from '../insights/event-search.ts'
import type { Caller, Sources } from '../insights/insight.ts'
import type { Sighting } from './draft.ts'

/** A session is not longer, and of a longer one its last part is enough. */
const MAX_SESSION_MS = DAY_MS
const MAX_EVENTS = 1000
const AT_ONCE = 200

/** The history, as insights see it. */
export type SessionSources = Pick<Sources, 'db' | 'history' | 'privacy' | 'retentionMs'>

/**
 * Returns what is stored of a visitor's session, in the order in which it happened: events that a browser would send again. Of
 * more than 1,000 the last ones. Callers who may not see personal data get it masked.
 * @throws {AppError} `notFound` when the organization has no events of such a session
 */
export async function sightingsOfSession(
  sessionId: string,
  sources: SessionSources,
  caller: Caller,
): Promise<Sighting[]> {
  const from = Math.max(0, caller.now - sources.retentionMs)
  const [newest] = (await search({ sessionId, from, limit: 1 })).events
  if (!newest) throw new AppError('notFound', 'sessionId: there are no events of such a session')
  const { domainId, receivedAt } = newest
  const window = {
    sessionId,
    domainId,
    from: Math.max(0, receivedAt - MAX_SESSION_MS),
    to: receivedAt + 1,
    limit: AT_ONCE,
  }
  const found: Found[] = []
  let cursor: string | null = null
  do {
    const answer = await search({ ...window, ...(cursor !== null && { cursor }) })
    found.push(...answer.events)
    cursor = answer.nextCursor
  } while (cursor !== null && found.length < MAX_EVENTS)
  return found
    .toSorted((a, b) => a.ts - b.ts || a.seq - b.seq)
    .map(({ kind, ts, host, path, vendor, event, account, params }) => ({
      at: ts,
      pageUrl: host === null ? null : `https://${host}${path ?? '/'}`,
      event: kind === 'event' ? { vendor, event, account, params } : null,
    }))

  function search(input: Parameters<typeof eventSearch.answer>[1]) {
    return eventSearch.answer(sources as Sources, input, caller)
  }
}

type Found = Awaited<ReturnType<typeof eventSearch.answer>>['events'][number]
