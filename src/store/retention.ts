import { DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from './database.ts'

/**
 * Records beside events (usage, ledger, history, deliveries, audit log, gaps) are kept for this long, as counts are.
 */
export const RECORD_RETENTION_MS = 400 * DAY_MS

/** Deletes a room's records that are too old at `now`, in the caller's transaction. Idempotent. */
export type Retention = (db: Db, now: Instant) => void
