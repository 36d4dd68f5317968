import type { Clock } from '../core/clock.ts'
import type { Db } from '../store/database.ts'

/** What the routes of domains work with. */
export interface DomainParts {
  db: Db
  clock: Clock
  /** Where the collector is reached from outside, without a path: `https://collect.example`. */
  collectUrl: string
  /** Where the interface is reached, without a path. */
  publicUrl: string
  /** True when nobody may change where domains send their events. */
  isEndpointLocked: boolean
  /** True for a hostname that who runs the server has named, so that it may be one of their own network. None when absent. */
  isHostAllowed?: (hostname: string) => boolean
  /** Called after every change that the collector must know of. */
  changed: () => void
}
