import type { OperatorNotice } from '../base.ts'
import type { Clock } from '../core/clock.ts'
import { type Db, prepared } from '../store/database.ts'

/** Notifies the operator once when a problem begins and once when it has ended. Survives restarts. */
export class Alarms {
  private readonly raised: Set<string>

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly notify: (notice: OperatorNotice) => void,
  ) {
    const rows = db.prepare<[], { name: string }>('SELECT name FROM operatorAlarm').all()
    this.raised = new Set(rows.map(({ name }) => name))
  }

  isRaised(name: string): boolean {
    return this.raised.has(name)
  }

  /** Reports a problem unless it has been reported already. */
  raise(name: string, notice: OperatorNotice): void {
    if (this.raised.has(name)) return
    this.raised.add(name)
    this.write('INSERT OR IGNORE INTO operatorAlarm VALUES (@name, @now)', { name, now: this.clock.now() })
    this.notify(notice)
  }

  /** Reports that a problem has ended, if it has been reported. */
  clear(name: string, notice: OperatorNotice): void {
    if (!this.raised.delete(name)) return
    this.write('DELETE FROM operatorAlarm WHERE name = @name', { name })
    this.notify(notice)
  }

  private write(sql: string, values: object): void {
    try {
      prepared<[object]>(this.db, sql).run(values)
    } catch {
      // On a full disk, the alarm is only known until the next start, which may report it again.
    }
  }
}
