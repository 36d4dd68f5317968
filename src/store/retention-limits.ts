import { DAY_MS, type Instant } from '../core/clock.ts'
import { countText, sizeText } from '../core/text.ts'
import { type Db, tx } from './database.ts'

/** Settings that limit how long, or how much, data is stored: numbers of days, and bytes with 0 for no limit. */
export const LIMIT_NAMES = ['retentionDays', 'runRetentionDays', 'diskBudget'] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

/** A shorter limit that does not delete anything yet. */
export interface WaitingLimit {
  name: LimitName
  /** The limit that still applies. */
  inForce: number
  requested: number
  /** Time from which the shorter limit applies unless it is confirmed earlier. */
  appliesAt: Instant
}

/** Waiting time of a shorter limit, in which an accidental change can be taken back. */
const WAITING_MS = DAY_MS

const VARIABLES: Record<LimitName, string> = {
  retentionDays: 'TAGWARDEN_RETENTION_DAYS',
  runRetentionDays: 'TAGWARDEN_RUN_RETENTION_DAYS',
  diskBudget: 'TAGWARDEN_DISK_BUDGET',
}

/** Returns the name and value of a limit as `TAGWARDEN_RETENTION_DAYS=30`. */
export function limitText(name: LimitName, value: number): string {
  const text = name !== 'diskBudget' ? countText(value) : value === 0 ? 'none' : sizeText(value)
  return `${VARIABLES[name]}=${text}`
}

interface Row {
  inForce: number
  requested: number | null
  requestedAt: Instant | null
}

/**
 * Compares the settings with the limits in force. A longer limit applies immediately, and ends the waiting time of a
 * shorter one. A shorter limit waits, also across restarts.
 */
export function requestLimits(db: Db, settings: Record<LimitName, number>, now: Instant): void {
  tx(db, () => {
    for (const name of LIMIT_NAMES) {
      const value = settings[name]
      const row = rowOf(db, name)
      if (!row || sizeOf(name, value) >= sizeOf(name, row.inForce)) write(db, name, { inForce: value })
      else if (row.requested !== value) {
        write(db, name, { inForce: row.inForce, requested: value, requestedAt: now })
      }
    }
  })
}

/** Returns the limit that applies at `now`. Ends the waiting time of a shorter one if it is over. */
export function limitInForce(db: Db, name: LimitName, now: Instant): number {
  const row = rowOf(db, name)
  if (!row) throw new Error(`the limit ${name} is unknown before the start`)
  if (row.requested === null || row.requestedAt === null || now < row.requestedAt + WAITING_MS) return row.inForce
  write(db, name, { inForce: row.requested })
  return row.requested
}

/** Returns the shorter limits that are waiting. */
export function waitingLimits(db: Db): WaitingLimit[] {
  return LIMIT_NAMES.flatMap((name) => {
    const { inForce, requested, requestedAt } = rowOf(db, name) ?? { inForce: 0, requested: null, requestedAt: null }
    if (requested === null || requestedAt === null) return []
    return [{ name, inForce, requested, appliesAt: requestedAt + WAITING_MS }]
  })
}

/** Ends the waiting time of all shorter limits, and returns them. */
export function confirmLimits(db: Db): WaitingLimit[] {
  return tx(db, () => {
    const waiting = waitingLimits(db)
    for (const { name, requested } of waiting) write(db, name, { inForce: requested })
    return waiting
  })
}

const sizeOf = (name: LimitName, value: number) =>
  name === 'diskBudget' && value === 0 ? Number.POSITIVE_INFINITY : value

function rowOf(db: Db, name: LimitName): Row | undefined {
  return db
    .prepare<[string], Row>('SELECT inForce, requested, requestedAt FROM retentionLimit WHERE name = ?')
    .get(name)
}

function write(db: Db, name: LimitName, row: Partial<Row> & Pick<Row, 'inForce'>): void {
  db.prepare(
    `INSERT OR REPLACE INTO retentionLimit (name, inForce, requested, requestedAt)
     VALUES (@name, @inForce, @requested, @requestedAt)`,
  ).run({ requested: null, requestedAt: null, ...row, name })
}
