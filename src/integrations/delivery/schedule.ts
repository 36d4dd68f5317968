import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'

/** Where an attempt goes, and on whose account. */
export interface Way {
  orgId: string
  kind: 'http' | 'mail'
  /** The name in the URL, without its port. All mail goes to one: our own mail server. */
  host: string
}

/**
 * Attempts at the same time: of a kind altogether, of one organization, at one host. An organization never holds more
 * than are still free, so others find a place however many hang.
 */
export const PLACES: Readonly<Record<Way['kind'], { all: number; org: number; host: number }>> = {
  http: { all: 64, org: 8, host: 2 },
  mail: { all: 8, org: 8, host: 8 },
}

/** Of an organization's places, those that only hosts get that answered last time: hanging ones leave them free. */
const KEPT_PLACES = 2

/** How an organization's last attempts at a host went. */
export interface Health {
  /** Attempts in a row that hung; 0: the last one was answered. */
  hangs: number
  /** When the last one ended or, after one that hung, until when the host is set aside. */
  until: Instant
}

const FIRST_PAUSE_MS = SECOND_MS
const LONGEST_PAUSE_MS = 5 * MINUTE_MS

/** A host that hangs is set aside for a second, then for twice as long each time, five minutes at most. */
export function healthAfter(health: Health | undefined, hung: boolean, now: Instant): Health {
  if (!hung) return { hangs: 0, until: now }
  const hangs = (health?.hangs ?? 0) + 1
  return { hangs, until: now + Math.min(FIRST_PAUSE_MS * 2 ** (hangs - 1), LONGEST_PAUSE_MS) }
}

/** The key of a host's health: each organization learns for itself, so nobody can have a host set aside for others. */
export const healthKey = ({ orgId, kind, host }: Way): string => `${orgId} ${kind} ${host}`

export interface Traffic {
  underWay: readonly Way[]
  /** By `healthKey`; of a host that is missing nothing is known. */
  health: ReadonlyMap<string, Health>
  now: Instant
}

/** True when one more attempt may go this way. Of the hosts that an organization has set aside, one is tried at a time. */
export function mayGo(way: Way, { underWay, health, now }: Traffic): boolean {
  const places = PLACES[way.kind]
  const all = underWay.filter(({ kind }) => kind === way.kind)
  const own = all.filter(({ orgId }) => orgId === way.orgId)
  const known = health.get(healthKey(way))
  const most = known?.hangs === 0 ? places.org : places.org - KEPT_PLACES
  if (own.length >= Math.min(most, places.all - all.length)) return false
  if (all.filter(({ host }) => host === way.host).length >= places.host) return false
  const isAside = (one: Way) => (health.get(healthKey(one))?.hangs ?? 0) > 0
  return !isAside(way) || ((known?.until ?? now) <= now && !own.some(isAside))
}

/**
 * Which of those that wait go now, in this order: the organizations take turns, each with its first that may go.
 * @param waiting in the order in which each organization wants them sent
 */
export function choose<W extends Way>(waiting: readonly W[], traffic: Traffic): W[] {
  const chosen: W[] = []
  let turns = [...Map.groupBy(waiting, ({ orgId }) => orgId).values()]
  while (turns.length > 0) {
    const rest: W[][] = []
    for (const own of turns) {
      const underWay = [...traffic.underWay, ...chosen]
      const index = own.findIndex((way) => mayGo(way, { ...traffic, underWay }))
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
