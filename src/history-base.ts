import type { Base } from './base.ts'
import type { Privacy } from './conditions/privacy-settings.ts'
import type { Spool } from './ingest/spool.ts'
import type { VisibleEvents } from './warehouse/visible-events.ts'
import type { Warehouse } from './warehouse/warehouse.ts'

/** Dependencies shared by the rooms that use the event history. */
export interface HistoryBase extends Base, VisibleEvents {
  spool: Spool
  warehouse: Warehouse
  /** Retention time of events. */
  retentionMs: number
  /** Number of events above which dictionaries, session flows and suggestions are sampled by session. */
  maxEventsRead: number
  /** Returns the privacy settings of the organization. */
  privacyOf(orgId: string): Privacy
  /** Returns a function that masks personal data in a string. */
  maskTextOf(orgId: string): (text: string) => string
}
