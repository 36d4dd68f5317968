import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'

/** Destination of an attempt and the organization that makes the attempt. Concurrency is limited per lane. */
export interface Lane {
  orgId: string
  kind: 'http' | 'mail'
  /** Origin of the receiver, `https://hooks.example.com`. Empty for e-mail, which uses a single server. */
  origin: string
}

interface LaneLimits {
  /** For attempts of all organizations. */
  all: number
  /** For attempts of one organization. */
  org: number
  /** For attempts of one organization at one origin. */
  orgAtOrigin: number
  /** For attempts of all organizations at one origin. */
  origin: number
}

/** Maximum number of concurrent attempts. */
export const MAX_CONCURRENT: Readonly<Record<Lane['kind'], LaneLimits>> = {
  http: { all: 64, org: 8, orgAtOrigin: 2, origin: 16 },
  mail: { all: 8, org: 8, orgAtOrigin: 8, origin: 8 },
}

/**
 * Number of an organization's slots that an attempt must leave free. `answered`: the organization's only attempt at an
 * origin that responded last time. `unknown`: its only attempt at an untried origin. `paused`: its only attempt at a
 * paused origin. `another`: a further attempt at the same origin.
 */
const RESERVED = { answered: 0, unknown: 1, paused: 2, another: 4 } as const

/** Health of an origin, as seen by one organization. */
export interface Health {
  /** Number of consecutive attempts that hung. 0 if the last attempt received a response. */
  hangs: number
  /** End of the last attempt or, if it hung, end of the pause that follows. */
  until: Instant
}

const FIRST_PAUSE_MS = SECOND_MS
const MAX_PAUSE_MS = 5 * MINUTE_MS

/**
 * Health after an attempt. An origin that hangs is paused for one second. The pause doubles with each consecutive hang,
 * up to five minutes.
 */
export function healthAfter(health: Health | undefined, hung: boolean, now: Instant): Health {
  if (!hung) return { hangs: 0, until: now }
  const hangs = (health?.hangs ?? 0) + 1
  return { hangs, until: now + Math.min(FIRST_PAUSE_MS * 2 ** (hangs - 1), MAX_PAUSE_MS) }
}

/**
 * Key of an origin's health. It includes the organization, so that an organization's pauses do not affect other
 * organizations.
 */
export const healthKey = ({ orgId, kind, origin }: Lane): string => `${orgId} ${kind} ${origin}`

export interface Traffic {
  inFlight: readonly Lane[]
  /** Health by `healthKey`. Origins that have not been tried recently are missing. */
  health: ReadonlyMap<string, Health>
  now: Instant
}

/**
 * True if another attempt may start in a lane. An untried origin is limited to half of its slots. An organization tries
 * only one of its paused origins at a time.
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
 * True if a slot is free, even if the origin is paused. An organization never occupies more slots than remain free, in
 * total and per origin. Other organizations therefore get slots regardless of how many attempts hang.
 */
export function hasRoom(lane: Lane, { inFlight, health }: Omit<Traffic, 'now'>): boolean {
  const limits = MAX_CONCURRENT[lane.kind]
  const all = inFlight.filter(({ kind }) => kind === lane.kind)
  const own = all.filter(({ orgId }) => orgId === lane.orgId)
  const atOrigin = all.filter(({ origin }) => origin === lane.origin)
  const ownAtOrigin = own.filter(({ origin }) => origin === lane.origin)
  if (ownAtOrigin.length >= Math.min(limits.orgAtOrigin, limits.origin - atOrigin.length)) return false
  const hangs = health.get(healthKey(lane))?.hangs
  const first = hangs === undefined ? 'unknown' : hangs === 0 ? 'answered' : 'paused'
  const reserved = RESERVED[ownAtOrigin.length > 0 ? 'another' : first]
  return own.length < Math.min(limits.org - reserved, limits.all - all.length)
}

/**
 * Returns the items to start now, in order. Organizations take turns, each with its first item that may start.
 * @param waiting Items of each organization in the order in which they are to be sent.
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
      // Earlier items cannot start later in this round either, because the number of free slots only decreases.
      rest.push(own.slice(index + 1))
    }
    turns = rest
  }
  return chosen
}
