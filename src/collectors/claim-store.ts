import Database from 'better-sqlite3'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { makePrivateFile } from '../store/private-file.ts'

/** Batches that a segment claims. */
export interface Claim {
  /** Unique name of the segment across all collectors. */
  segment: string
  /** Hashes of the batches, as returned by `hashOf`. */
  hashes: readonly bigint[]
}

/** Claims made within such a period are in one table. Each table adds to the time of a claim. */
export const PERIOD_MS = DAY_MS

/**
 * Claims are remembered for at least this long. Senders repeat a batch within 24 hours, and a collector may be cut off
 * for as long before it claims its own copy.
 */
export const CLAIM_MS = 2 * DAY_MS
const PERIODS = CLAIM_MS / PERIOD_MS

/** Number of hashes per statement. Larger lists are slower per hash. */
const PIECE = 250

interface SegmentRow {
  id: number
}

/**
 * Decides which segment a batch belongs to when several collectors have received it. The first segment that claims a
 * batch owns it. Claims are stored by period, so that old ones are dropped with their table.
 */
export class ClaimStore {
  private readonly db: Database.Database
  /** Periods that have a table, latest first. */
  private periods: number[]

  /** Opens the file, or creates it. */
  constructor(path: string) {
    makePrivateFile(path)
    this.db = new Database(path)
    this.db.pragma('journal_mode = WAL')
    // A claim that a power failure erased would allow the same batch in a second segment.
    this.db.pragma('synchronous = FULL')
    // 64 MiB: each hash is on a random page.
    this.db.pragma('cache_size = -65536')
    this.db.exec(
      `CREATE TABLE IF NOT EXISTS claimant (
         id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, period INTEGER NOT NULL
       ) STRICT`,
    )
    const tables = this.db
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'claim_*'`)
      .pluck()
      .all()
    this.periods = tables.map((name) => Number(name.slice('claim_'.length))).sort((a, b) => b - a)
  }

  /**
   * Claims the batches of a segment. Returns the hashes that belong to other segments. Durable before it returns.
   * Idempotent: a repeated claim of a segment has the same result.
   */
  claim({ segment, hashes }: Claim, now: Instant): bigint[] {
    const period = Math.floor(now / PERIOD_MS)
    return this.db
      .transaction(() => {
        this.rotate(period)
        const id = this.idOf(segment, period)
        const taken: bigint[] = []
        for (let at = 0; at < hashes.length; at += PIECE) {
          for (const hash of this.claimPiece(id, period, hashes.slice(at, at + PIECE))) taken.push(hash)
        }
        return taken
      })
      .immediate()
  }

  /** Size of the file in bytes. */
  get bytes(): number {
    const page = (name: string) => this.db.pragma(name, { simple: true }) as number
    return page('page_count') * page('page_size')
  }

  close(): void {
    this.db.close()
  }

  private claimPiece(id: number, period: number, hashes: readonly bigint[]): bigint[] {
    const taken: bigint[] = []
    let open = [...hashes]
    for (const known of this.periods) {
      if (known === period) continue
      const owners = this.ownersIn(known, open)
      if (owners.size === 0) continue
      for (const [hash, owner] of owners) if (owner !== id) taken.push(hash)
      open = open.filter((hash) => !owners.has(hash))
    }
    this.db.prepare(`INSERT OR IGNORE INTO claim_${period} SELECT value, ? FROM json_each(?)`).run(id, listOf(open))
    for (const [hash, owner] of this.ownersIn(period, open)) if (owner !== id) taken.push(hash)
    return taken
  }

  /** Returns the segments that own these batches in one period. */
  private ownersIn(period: number, hashes: readonly bigint[]): Map<bigint, number> {
    const rows = this.db
      // With a plain JOIN, SQLite reads the whole table for each list.
      .prepare<[string], [bigint, bigint]>(
        `SELECT hash, segment FROM json_each(?) CROSS JOIN claim_${period} ON hash = value`,
      )
      .raw()
      .safeIntegers()
      .all(listOf(hashes))
    return new Map(rows.map(([hash, segment]) => [hash, Number(segment)]))
  }

  private idOf(name: string, period: number): number {
    const row = this.db
      .prepare<[string, number], SegmentRow>(
        `INSERT INTO claimant (name, period) VALUES (?, ?) ON CONFLICT DO UPDATE SET name = excluded.name RETURNING id`,
      )
      .get(name, period)
    if (!row) throw new Error(`segment ${name} has no id`)
    return row.id
  }

  /** Creates the table of the period, and drops those that have expired. */
  private rotate(period: number): void {
    if (!this.periods.includes(period)) {
      this.db.exec(
        `CREATE TABLE IF NOT EXISTS claim_${period} (hash INTEGER PRIMARY KEY, segment INTEGER NOT NULL) STRICT`,
      )
      this.periods = [period, ...this.periods].sort((a, b) => b - a)
    }
    const expired = this.periods.filter((one) => one < period - PERIODS)
    if (expired.length === 0) return
    for (const one of expired) this.db.exec(`DROP TABLE claim_${one}`)
    this.db.prepare('DELETE FROM claimant WHERE period < ?').run(period - PERIODS)
    this.periods = this.periods.filter((one) => !expired.includes(one))
  }
}

const listOf = (hashes: readonly bigint[]) => `[${hashes.join()}]`
