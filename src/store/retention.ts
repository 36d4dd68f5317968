import { DAY_MS, type Instant } from '../core/clock.ts'
import type { Db } from './database.ts'

/** Retention of counts and of all records other than events: usage, ledger, history, deliveries, audit log, gaps. */
export const RECORD_RETENTION_MS = 400 * DAY_MS

/** Deletes a module's records that have expired at `now`, in the caller's transaction. Idempotent. */
export type Retention = (db: Db, now: Instant) => void
