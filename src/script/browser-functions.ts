import { type ErrorGuard, makeErrorGuard } from './error-guard.ts'
import type { SendFunctions } from './sender.ts'
import type { SharedWindow } from './shared-window.ts'
import { randomId } from './visitor-session.ts'

/** The page and browser functions that the script uses; tests replace them. */
export interface BrowserFunctions {
  window: Window & typeof globalThis & SharedWindow
  /**
   * The page's location. For a document without a URL, such as a `srcdoc` frame, it is the location of the enclosing
   * page.
   */
  location: Location
  guard: ErrorGuard
  /** The browser's functions before they were wrapped. */
  ways: SendFunctions
  /** The page's monotonic clock: ms since it began to load. */
  now(): number
  /** Ms since the epoch. */
  date(): number
  later(work: () => void, ms: number): void
  isOnline(): boolean
  /** Returns a short unique id for an item. */
  newId(): string
}

export function browserFunctionsOf(window: BrowserFunctions['window']): BrowserFunctions {
  const now = () => performance.now()
  const guard = makeErrorGuard(now)
  const setTimer = window.setTimeout.bind(window)
  const prefix = randomId().slice(0, 16)
  let last = 0
  return {
    window,
    location: locationOf(window),
    guard,
    ways: waysOut(window),
    now,
    date: () => Date.now(),
    later: (work, ms) => void setTimer(() => guard.run(work), ms),
    isOnline: () => window.navigator.onLine,
    newId: () => `${prefix}.${++last}`,
  }
}

/** Throws when the page that encloses a document without a URL has another origin, as in most sandboxes. */
function locationOf(window: Window): Location {
  const { location, parent } = window
  return location.protocol === 'about:' && parent !== window ? locationOf(parent) : location
}

function waysOut({ fetch, navigator, Request }: BrowserFunctions['window']): SendFunctions {
  return {
    fetch: fetch.bind(window),
    // Content blockers may remove `sendBeacon`.
    beacon: navigator.sendBeacon?.bind(navigator),
    canKeep: 'keepalive' in Request.prototype,
  }
}
