import type { Instant } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { type Db, tx } from '../../store/database.ts'
import type { EventFile, PageFile, RollupFile } from '../duckdb/manifest.ts'

/** Manifest entries of the files written for a day; empty lists if the day was inserted into ClickHouse. */
export interface WrittenDay {
  files: EventFile[]
  rollups: RollupFile[]
  pages: PageFile[]
}

/** Returns the total of these days. */
export function allOf(days: readonly WrittenDay[]): WrittenDay {
  return {
    files: days.flatMap(({ files }) => files),
    rollups: days.flatMap(({ rollups }) => rollups),
    pages: days.flatMap(({ pages }) => pages),
  }
}

/** Progress of the migration of a data folder, stored in its database. */
export class MigrationProgress {
  constructor(private readonly db: Db) {}

  /** Target of the unfinished migration; null if there is none. */
  get target(): string | null {
    return this.db.prepare<[], string>('SELECT target FROM warehouseMigration').pluck().get() ?? null
  }

  /** Starts a migration. Throws `conflict` if one to another target is unfinished. */
  start(target: string, at: Instant): void {
    const { target: started } = this
    if (started !== null && started !== target)
      throw new AppError(
        'conflict',
        `a migration to ${started} is unfinished: continue it, or run the command with --restart to discard its progress`,
      )
    this.db.prepare('INSERT OR IGNORE INTO warehouseMigration VALUES (1, ?, ?)').run(target, at)
  }

  /** Discards the progress, in the caller's transaction or its own. Idempotent. */
  clear(): void {
    tx(this.db, () => {
      this.db.prepare('DELETE FROM warehouseMigration').run()
      this.db.prepare('DELETE FROM migratedDay').run()
    })
  }

  /** All days that were begun, in order. */
  days(): Instant[] {
    return this.db.prepare<[], Instant>('SELECT day FROM migratedDay ORDER BY day').pluck().all()
  }

  /** Files of a day that was copied; null otherwise. */
  written(day: Instant): WrittenDay | null {
    const files = this.db
      .prepare<[Instant], string | null>('SELECT files FROM migratedDay WHERE day = ?')
      .pluck()
      .get(day)
    return files ? (JSON.parse(files) as WrittenDay) : null
  }

  /** Begins to copy a day. Returns how often this has happened, starting at 1. */
  begin(day: Instant): number {
    const begun = this.db
      .prepare<[Instant], number>(
        `INSERT INTO migratedDay VALUES (?, 1, NULL)
         ON CONFLICT DO UPDATE SET attempts = attempts + 1, files = NULL RETURNING attempts`,
      )
      .pluck()
    return begun.get(day) ?? 1
  }

  finish(day: Instant, written: WrittenDay): void {
    this.db.prepare('UPDATE migratedDay SET files = ? WHERE day = ?').run(JSON.stringify(written), day)
  }

  /** Marks a day whose copy is different, so that it is copied again. */
  reopen(day: Instant): void {
    this.db.prepare('UPDATE migratedDay SET files = NULL WHERE day = ?').run(day)
  }
}
