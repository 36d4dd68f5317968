import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'

/** Where an attempt goes, and for which organization. */
export interface Lane {
  orgId: string
  kind: 'http' | 'mail'
  /** Scheme, host and port of the receiver: `https://hooks.example.com`. Empty for mail, which all goes to one server. */
  origin: string
}

interface LaneLimits {
  /** Attempts of all organizations together. */
  all: number
  /** Attempts of one organization. */
  org: number
  /** Attempts of one organization at one origin. */
  orgAtOrigin: number
  /** Attempts of all organizations together at one origin. */
  origin: number
}

/** Maximum number of attempts at the same time. */
export const MAX_CONCURRENT: Readonly<Record<Lane['kind'], LaneLimits>> = {
  http: { all: 64, org: 8, orgAtOrigin: 2, origin: 16 },
  mail: { all: 8, org: 8, orgAtOrigin: 8, origin: 8 },
}

/**
 * How many of an organization's places an attempt leaves free: the only one at an origin that answered last time, the
 * only one at an origin that has not answered yet, one at a paused origin, and another one at the same origin.
 */
const RESERVED = { answered: 0, unknown: 1, paused: 2, another: 4 } as const

/** How an organization's most recent attempts at an origin went. */
export interface Health {
  /** Attempts in a row that hung; 0: the last one was answered. */
  hangs: number
  /** When the last attempt ended or, after one that hung, until when the origin is paused. */
  until: Instant
}

const FIRST_PAUSE_MS = SECOND_MS
const MAX_PAUSE_MS = 5 * MINUTE_MS

/** An origin that hangs is paused for a second, then for twice as long each time, five minutes at most. */
export function healthAfter(health: Health | undefined, hung: boolean, now: Instant): Health {
  if (!hung) return { hangs: 0, until: now }
  const hangs = (health?.hangs ?? 0) + 1
  return { hangs, until: now + Math.min(FIRST_PAUSE_MS * 2 ** (hangs - 1), MAX_PAUSE_MS) }
}

/** Key of an origin's health. It is an organization's own, so nobody can have an origin paused for others. */
export const healthKey = ({ orgId, kind, origin }: Lane): string => `${orgId} ${kind} ${origin}`

export interface Traffic {
  inFlight: readonly Lane[]
  /** By `healthKey`. An origin that is missing has not been tried, or not for a while. */
  health: ReadonlyMap<string, Health>
  now: Instant
}

/**
 * Returns whether one more attempt may go this way. An origin that has not answered yet gets half of its places, and of
 * the origins that an organization has paused, one is tried at a time.
 */
export function mayStart(lane: Lane, traffic: Traffic): boolean {
  const { inFlight, health, now } = traffic
  const own = inFlight.filter(({ orgId, kind }) => orgId === lane.orgId && kind === lane.kind)
  const isPaused = (one: Lane) => (health.get(healthKey(one))?.hangs ?? 0) > 0
  const known = health.get(healthKey(lane))
  if (isPaused(lane) && ((known?.until ?? now) > now || own.some(isPaused))) return false
  const atOrigin = own.filter(({ origin }) => origin === lane.origin).length
  if (known?.hangs !== 0 && atOrigin >= MAX_CONCURRENT[lane.kind].orgAtOrigin / 2) return false
  return hasRoom(lane, traffic)
}

/**
 * Returns whether there is a place for one more attempt, whether or not its origin is paused. Nobody holds more places
 * than are still free, at all origins together and at one, so others find a place however many attempts hang.
 */
export function hasRoom(lane: Lane, { inFlight, health }: Omit<Traffic, 'now'>): boolean {
  const places = MAX_CONCURRENT[lane.kind]
  const all = inFlight.filter(({ kind }) => kind === lane.kind)
  const own = all.filter(({ orgId }) => orgId === lane.orgId)
  const atOrigin = all.filter(({ origin }) => origin === lane.origin)
  const ownAtOrigin = own.filter(({ origin }) => origin === lane.origin)
  if (ownAtOrigin.length >= Math.min(places.orgAtOrigin, places.origin - atOrigin.length)) return false
  const hangs = health.get(healthKey(lane))?.hangs
  const first = hangs === undefined ? 'unknown' : hangs === 0 ? 'answered' : 'paused'
  const leftFree = RESERVED[ownAtOrigin.length > 0 ? 'another' : first]
  return own.length < Math.min(places.org - leftFree, places.all - all.length)
}

/**
 * Which of those that wait go now, in this order: the organizations take turns, each with its first that may go.
 * @param waiting in the order in which each organization wants them sent
 */
export function chooseNext<W extends Lane>(waiting: readonly W[], traffic: Traffic): W[] {
  const chosen: W[] = []
  let turns = [...Map.groupBy(waiting, ({ orgId }) => orgId).values()]
  while (turns.length > 0) {
    const rest: W[][] = []
    for (const own of turns) {
      const inFlight = [...traffic.inFlight, ...chosen]
      const index = own.findIndex((lane) => mayStart(lane, { ...traffic, inFlight }))
      const next = own[index]
      if (!next) continue
      chosen.push(next)
      // What could not go before it can't go after it: places only get fewer.
      rest.push(own.slice(index + 1))
    }
    turns = rest
  }
  return chosen
}
