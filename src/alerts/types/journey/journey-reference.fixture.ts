import { compileFilters } from '../../../conditions/predicate.ts'
import { HOUR_MS, type Instant } from '../../../core/clock.ts'
import type { StoredEvent } from '../../../core/event.ts'
import { type Alert, domainsOf } from '../../alert.ts'
import { type Anchor, type Expect, LABELS, type SteppedSpec } from './journey.fixture.ts'
import type { Plan, Shape } from './journey-plan.ts'
import { type JourneySpec, readSpec } from './journey-spec.ts'

/*
 * Reference implementation of journeys: as simple as possible, without regard to speed, and without code shared with
 * plans, shapes and SQL.
 */

/** Returns `unreached`, `fine`, or the first unmet expectation as `step.expect`. */
export function verdictOn(spec: JourneySpec, events: readonly StoredEvent[]): string {
  const inTime = [...events].sort((a, b) => a.ts - b.ts || a.seq - b.seq)
  return 'version' in spec ? steppedVerdict(spec, inTime) : legacyVerdict(spec.steps, inTime)
}

function steppedVerdict(spec: SteppedSpec, events: readonly StoredEvent[]): string {
  const starts: number[] = []
  for (const [index, { anchor }] of spec.steps.entries()) {
    if (anchor.kind === 'session') {
      if (index > 0) break
      starts.push(0)
      continue
    }
    const previous = spec.steps[index - 1]?.anchor
    const from = index === 0 || previous?.kind === 'session' ? 0 : Number(starts.at(-1)) + 1
    const found = events.map((event, at) => at >= from && isMet(anchor, event)).indexOf(true)
    if (found < 0) break
    starts.push(found)
  }
  if (starts.length === 0) return 'unreached'
  for (const [index, start] of starts.entries()) {
    const inside = events.slice(start, starts[index + 1] ?? events.length)
    const expect = spec.steps[index]?.expect ?? []
    for (const [place, one] of expect.entries()) {
      const before = expect.slice(0, place + 1).filter(({ ordered }) => ordered)
      const met = one.ordered ? isThere(before, inside) : inside.some((event) => isMet(one, event))
      if (!met) return `${index}.${place}`
    }
  }
  return 'fine'
}

function legacyVerdict(steps: readonly Expect[], events: readonly StoredEvent[]): string {
  const last = steps.at(-1)
  const before = events.flatMap((event, at) => (last && isMet(last, event) ? [events.slice(0, at)] : []))
  if (before.length === 0) return 'unreached'
  const missing = steps.slice(0, -1).findIndex((_, place) => {
    const part = steps.slice(0, place + 1)
    return !before.some((inside) => isThere(part, inside))
  })
  return missing < 0 ? 'fine' : `0.${missing}`
}

/** Returns the shape of the session for this plan. */
export function shapeOf(plan: Plan, events: readonly StoredEvent[]): Shape {
  return [...events]
    .sort((a, b) => a.ts - b.ts || a.seq - b.seq)
    .map((event) =>
      plan.matchers.flatMap(({ page, label, vendor, event: name, data }, place) => {
        const rest = { ...(label && { label }), ...(vendor && { vendor }), ...(name && { event: name }) }
        const wanted = page ? { kind: 'page' as const, ...page } : { ...rest, data: [...data] }
        return isMet(wanted, event) ? [place] : []
      }),
    )
    .filter((matches) => matches.length > 0)
}

/** True when the expectations are met in order, each by a separate event. */
function isThere([first, ...others]: readonly Expect[], events: readonly StoredEvent[]): boolean {
  if (!first) return true
  return events.some((event, at) => isMet(first, event) && isThere(others, events.slice(at + 1)))
}

function isMet(expected: Anchor | Expect, event: StoredEvent): boolean {
  if ('kind' in expected && expected.kind === 'page') {
    const { path } = event
    if (path === null) return false
    if (expected.op === 'contains') return path.includes(expected.path)
    return expected.op === 'starts_with' ? path.startsWith(expected.path) : path === expected.path
  }
  const { label, vendor, event: name, data = [] } = expected as Expect
  const members = label ? (LABELS[label] ?? []) : []
  const isMember = members.some(
    (member) =>
      (member.vendor !== '' || member.event !== '') &&
      (!member.vendor || member.vendor === event.vendor) &&
      (!member.event || member.event === event.event),
  )
  return (
    (!label || isMember) &&
    (!vendor || vendor === event.vendor) &&
    (!name || name === event.event) &&
    data.every((condition) => compileFilters([condition])(event))
  )
}

/** Returns the sessions that ended in the window, each with the events from its last 23.5 hours. */
export function endedSessions(
  events: readonly StoredEvent[],
  { from, to }: { from: Instant; to: Instant },
): StoredEvent[][] {
  const half = HOUR_MS / 2
  const visits = Map.groupBy(
    events.filter(({ sessionId }) => sessionId),
    ({ domainId, sessionId }) => `${domainId} ${sessionId}`,
  )
  return [...visits.values()].flatMap((visit) => {
    const sessions: StoredEvent[][] = []
    for (const event of visit.toSorted((a, b) => a.receivedAt - b.receivedAt || a.seq - b.seq)) {
      const current = sessions.at(-1)
      const last = current?.at(-1)
      if (current && last && event.receivedAt - last.receivedAt < half) current.push(event)
      else sessions.push([event])
    }
    return sessions.flatMap((session) => {
      const lastAt = session.at(-1)?.receivedAt ?? 0
      if (lastAt + half < from || lastAt + half >= to) return []
      return [session.filter(({ receivedAt }) => receivedAt >= lastAt - 47 * half)]
    })
  })
}

/**
 * Returns an alert's findings in each domain for the sessions that ended in one window. `seen` is called with each
 * verdict: `violated`, `fine` or `unreached`.
 */
export function expectedOf(
  alert: Alert,
  sessions: readonly StoredEvent[][],
  domainIds: readonly string[],
  seen: Set<string> = new Set(),
) {
  const { journey, filters = [] } = alert
  const spec = readSpec(journey)
  const own = domainsOf(alert)
  const passes = compileFilters(filters)
  return domainIds.flatMap((domainId) => {
    const violating = sessions.filter((session) => {
      if (session[0]?.domainId !== domainId || (own.length > 0 && !own.includes(domainId)) || !session.some(passes))
        return false
      const verdict = verdictOn(spec, session)
      seen.add(/\d/.test(verdict) ? 'violated' : verdict)
      return /\d/.test(verdict)
    })
    if (violating.length === 0) return []
    const last = violating.map((session) => session.at(-1)?.receivedAt ?? 0)
    const weight = violating.reduce((sum, session) => sum + Math.max(...session.map(({ weight }) => weight)), 0)
    const hosts = violating.map((session) => session.at(-1)?.host ?? '')
    return [
      {
        domainId,
        count: Math.max(1, Math.round(weight)),
        hosts: [...new Set(hosts)].sort(),
        lastAt: Math.max(...last),
        firstAt: Math.min(...last),
      },
    ]
  })
}
