import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Flows } from './session-flows.ts'

/* Reference implementation of session flows. Simple, and shares no code with the query. */

export interface FlowsInput {
  orgId: string
  domainId?: string
  hours: number
  maxSteps: number
  now: Instant
  privacy: Privacy
}

interface Stay {
  path: string
  fired: StoredEvent[]
}

/** Returns the path with identifiers and personal data removed. */
export function shownPath(path: string, privacy: Privacy): string {
  const isIdentifier = (segment: string) =>
    /^\d+$/.test(segment) ||
    /^[\da-f]{16,}$/i.test(segment) ||
    /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(segment)
  const segments = path.split('/').map((segment) => (isIdentifier(segment) ? '*' : segment))
  return maskPersonal(segments.join('/'), '$path', privacy)
}

export function flowsReference(events: readonly StoredEvent[], asked: FlowsInput): Flows {
  const { maxSteps, privacy } = asked
  const sessions = sessionsOf(events, asked)
    .map((session) => staysOf(session, privacy).slice(0, maxSteps))
    .filter((stays) => stays.length > 0)
  const named = Array.from({ length: maxSteps }, (_, step) => namedIn(sessions, step))
  const nodeOf = (step: number, path: string) => (named[step]?.includes(path) ? path : '(other)')
  const steps = named.flatMap((_, index) => {
    const here = sessions.flatMap((stays) => stays[index] ?? [])
    const nodes = Map.groupBy(here, ({ path }) => nodeOf(index, path))
    const described = [...nodes].map(([path, stays]) => ({
      path,
      sessions: stays.length,
      vendors: firedIn(stays, privacy),
    }))
    return described.length > 0 ? [{ index, nodes: described.sort(nodeOrder) }] : []
  })
  const moves = sessions.flatMap((stays) =>
    stays.slice(1).map((stay, step) => ({
      fromStep: step,
      fromPath: nodeOf(step, stays[step]?.path ?? ''),
      toPath: nodeOf(step + 1, stay.path),
    })),
  )
  const links = [...Map.groupBy(moves, (move) => JSON.stringify(move))].map(([move, of]) => ({
    ...(JSON.parse(move) as (typeof moves)[number]),
    sessions: of.length,
  }))
  return {
    sessionsSampled: sessions.length,
    sampledEvents: eventsOf(events, asked).length,
    sampling: null,
    steps,
    links: links.sort(
      (a, b) =>
        a.fromStep - b.fromStep ||
        b.sessions - a.sessions ||
        byText(a.fromPath, b.fromPath) ||
        byText(a.toPath, b.toPath),
    ),
  }
}

/** Returns the events with a session. */
function eventsOf(events: readonly StoredEvent[], { orgId, domainId, hours, now }: FlowsInput): StoredEvent[] {
  return events.filter(
    (event) =>
      event.orgId === orgId &&
      (domainId === undefined || event.domainId === domainId) &&
      event.receivedAt >= now - hours * HOUR_MS &&
      event.sessionId,
  )
}

function sessionsOf(events: readonly StoredEvent[], asked: FlowsInput): StoredEvent[][] {
  const own = eventsOf(events, asked)
  const senders = Map.groupBy(own, ({ domainId, sessionId }) => `${domainId} ${sessionId}`)
  return [...senders.values()].flatMap((sent) => {
    const sessions: StoredEvent[][] = []
    let lastAt = Number.NEGATIVE_INFINITY
    for (const event of sent.toSorted((a, b) => a.receivedAt - b.receivedAt || a.seq - b.seq)) {
      if (event.receivedAt - lastAt >= HOUR_MS / 2) sessions.push([])
      sessions.at(-1)?.push(event)
      lastAt = event.receivedAt
    }
    return sessions
  })
}

function staysOf(session: readonly StoredEvent[], privacy: Privacy): Stay[] {
  const stays: Stay[] = []
  for (const event of session.toSorted((a, b) => a.ts - b.ts || a.seq - b.seq)) {
    if (!event.path || event.kind === 'library') continue
    const path = shownPath(event.path, privacy)
    const stay = stays.at(-1)
    if (stay?.path === path) stay.fired.push(event)
    else stays.push({ path, fired: [event] })
  }
  return stays
}

/** Compares strings byte by byte, like the query engines. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function namedIn(sessions: readonly Stay[][], step: number): string[] {
  const paths = sessions.flatMap((stays) => stays[step]?.path ?? [])
  const counted = [...Map.groupBy(paths, (path) => path)].map(([path, of]) => ({ path, count: of.length }))
  return counted
    .sort((a, b) => b.count - a.count || byBytes(a.path, b.path))
    .slice(0, 20)
    .map(({ path }) => path)
}

function firedIn(stays: readonly Stay[], privacy: Privacy) {
  const fired = stays.flatMap((stay) => stay.fired)
  const nameOf = ({ vendor, event }: StoredEvent) =>
    JSON.stringify([maskPersonal(vendor, '$vendor', privacy), maskPersonal(event, '$event', privacy)])
  const counted = [...Map.groupBy(fired, nameOf)].map(([name, of]) => {
    const [vendor, event] = JSON.parse(name) as [string, string]
    return { vendor, event, count: of.length }
  })
  return counted
    .sort((a, b) => b.count - a.count || byText(a.vendor, b.vendor) || byText(a.event, b.event))
    .slice(0, 20)
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Sorts nodes by number of sessions, most first. `(other)` is last. */
function nodeOrder(a: { path: string; sessions: number }, b: { path: string; sessions: number }): number {
  const isOther = ({ path }: { path: string }) => (path === '(other)' ? 1 : 0)
  return isOther(a) - isOther(b) || b.sessions - a.sessions || byText(a.path, b.path)
}
