import { DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from './database.ts'

/** What is written down beside events (usage, ledger, history, deliveries, audit log, gaps) is kept this long, as counts are. */
export const RECORDS_KEPT_MS = 400 * DAY_MS

/** Deletes what a room no longer keeps, by its age at `now`, in a transaction of the caller's. Doing it again changes nothing. */
export type Retention = (db: Db, now: Instant) => void
