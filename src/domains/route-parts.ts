import type { Clock } from '../core/clock.ts'
import type { Db } from '../store/database.ts'

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
  /** Called after every change that affects the collector. */
  changed: () => void
}
