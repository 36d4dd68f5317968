import type { Base } from './base.ts'
import type { Privacy } from './conditions/privacy-settings.ts'
import type { Instant } from './core/clock.ts'
import type { Spool } from './ingest/spool.ts'
import type { Warehouse } from './warehouse/warehouse.ts'

/** Dependencies shared by the rooms that use the event history. */
export interface HistoryBase extends Base {
  spool: Spool
  warehouse: Warehouse
  /** Returns the time up to which counts are complete. */
  watermark(): Instant
  /** Retention time of events. */
  retentionMs: number
  /** Number of events above which dictionaries, session flows and suggestions are sampled by session. */
  maxEventsRead: number
  /** Returns the privacy settings of the organization. */
  privacyOf(orgId: string): Privacy
  /** Returns a function that masks personal data in a string. */
  maskTextOf(orgId: string): (text: string) => string
}
