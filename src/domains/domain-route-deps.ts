import type { Clock, Instant } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { OrgRowKey } from '../store/org-rows.ts'

/** The dependencies of the domain routes. */
export interface DomainRouteDeps {
  db: Db
  clock: Clock
  /** Public URL of the collector, without a path, such as `https://collect.example`. */
  collectUrl: string
  /** Public URL of the dashboard, without a path. */
  publicUrl: string
  /** True when the operator does not allow users to change where domains send their events. */
  isEndpointLocked: boolean
  /** True for a hostname that the operator allows in a private network. If omitted, no such hostname is allowed. */
  isHostAllowed?: (hostname: string) => boolean
  /**
   * Records, in the current transaction, that a user has changed a setting that affects collection. `what` is a
   * sentence without its full stop.
   */
  noteSetting?: (domain: OrgRowKey, what: string) => void
  /** Resolves all issues of a domain that a user is about to delete. If omitted, they remain. */
  resolveIssues?: (domain: OrgRowKey, by: string) => Promise<void>
  /** Returns the number of open issues for each of these domains of an organization. */
  openIssues: (orgId: string, ids: readonly string[]) => Record<string, number>
  /** Returns the time of the most recent order for each of these domains. Domains without orders are omitted. */
  lastOrders: (ids: readonly string[]) => Record<string, Instant>
  /** Returns a function that masks personal data in a string. If omitted, nothing is masked. */
  maskTextOf?: (orgId: string) => (text: string) => string
  /** Called after every change that affects the collector. */
  changed: () => void
}

/** `10 % of sessions (in development: 100 %)` */
export function sharesText(prod: number, dev: number): string {
  const percent = (share: number) => `${Number((share * 100).toFixed(2))} %`
  return `${percent(prod)} of sessions (in development: ${percent(dev)})`
}
