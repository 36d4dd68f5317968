import type { Clock, Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { DomainKey } from './store.ts'

/** The dependencies of the routes of domains. */
export interface DomainParts {
  db: Db
  clock: Clock
  /** Public URL of the collector, without a path: `https://collect.example`. */
  collectUrl: string
  /** Public URL of the interface, without a path. */
  publicUrl: string
  /** True when the operator does not allow domains to change where they send their events. */
  isEndpointLocked: boolean
  /** True for a hostname that the operator allowed, so that it may be in a private network. None when left out. */
  isHostAllowed?: (hostname: string) => boolean
  /**
   * Notes in the present transaction that somebody changed a setting which decides what is collected; `what`: a sentence
   * without its full stop.
   */
  noteSetting?: (domain: DomainKey, what: string) => void
  /** Returns how many open issues each of these domains of an organization has. */
  openIssues: (orgId: string, ids: readonly string[]) => Record<string, number>
  /** Returns when the last order of each of these domains was placed; those without any are left out. */
  lastOrders: (ids: readonly string[]) => Record<string, Instant>
  /** Returns a function that masks personal data in a text; left out: nothing is masked. */
  maskTextOf?: (orgId: string) => (text: string) => string
  /** Called after every change that affects the collector. */
  changed: () => void
}

/** `10 % of sessions, in development of 100 %` */
export function sharesText(prod: number, dev: number): string {
  const percent = (share: number) => `${Number((share * 100).toFixed(2))} %`
  return `${percent(prod)} of sessions, in development of ${percent(dev)}`
}
