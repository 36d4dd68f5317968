import { type Guard, makeGuard } from './guard.ts'
import type { WaysOut } from './sender.ts'
import { randomId } from './session.ts'
import type { SharedWindow } from './shared-window.ts'

/** What the script has of the page and the browser; tests give it something else. */
export interface Host {
  window: Window & typeof globalThis & SharedWindow
  guard: Guard
  /** As they were before anybody watched them. */
  ways: WaysOut
  /** The page's own clock: ms since it began to load. It never goes back. */
  now(): number
  /** Ms since the epoch. */
  date(): number
  later(work: () => void, ms: number): void
  isOnline(): boolean
  /** For items: unique, and short. */
  newId(): string
}

export function hostOf(window: Host['window']): Host {
  const now = () => performance.now()
  const guard = makeGuard(now)
  const setTimer = window.setTimeout.bind(window)
  const prefix = randomId().slice(0, 16)
  let last = 0
  return {
    window,
    guard,
    ways: waysOut(window),
    now,
    date: () => Date.now(),
    later: (work, ms) => void setTimer(() => guard.run(work), ms),
    isOnline: () => window.navigator.onLine,
    newId: () => `${prefix}.${++last}`,
  }
}

function waysOut({ fetch, navigator, Request }: Host['window']): WaysOut {
  const beacon = navigator.sendBeacon
  return {
    fetch: typeof fetch === 'function' ? fetch.bind(window) : undefined,
    // Content blockers take it away.
    beacon: typeof beacon === 'function' ? beacon.bind(navigator) : undefined,
    canKeep: 'keepalive' in Request.prototype,
  }
}
