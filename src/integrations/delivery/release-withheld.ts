import { type Instant, MINUTE_MS } from '../../core/clock.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import { UNANNOUNCED } from './outbox.ts'
import { windowOfIssue } from './withhold.ts'

/** Maximum number of issues per call. The next call continues. */
const MAX_AT_ONCE = 50

/**
 * Announces the issues whose maintenance window has ended: those that are open and have not been announced since they
 * opened. `notifyOpening` returns false for an issue that must not be announced yet, which is tried again after a minute.
 * Returns the number of issues whose window has ended.
 */
export function releaseWithheld(db: Db, now: Instant, notifyOpening: (issueId: string) => boolean): number {
  return tx(db, () => {
    const due = prepared<[Instant], { id: string; isUnannounced: number }>(
      db,
      `SELECT issue.id, ${UNANNOUNCED} AS isUnannounced FROM withheldIssue JOIN issue ON issue.id = issueId
       WHERE untilAt <= ? ORDER BY severityRank DESC, firstSeenAt, issue.id LIMIT ${MAX_AT_ONCE}`,
    ).all(now)
    const postpone = prepared<[Instant, string]>(db, 'UPDATE withheldIssue SET untilAt = ? WHERE issueId = ?')
    let released = 0
    for (const { id, isUnannounced } of due) {
      const window = windowOfIssue(db, id, now)
      if (window) postpone.run(window.until, id)
      else if (isUnannounced && !notifyOpening(id)) postpone.run(now + MINUTE_MS, id)
      else {
        prepared(db, 'DELETE FROM withheldIssue WHERE issueId = ?').run(id)
        released++
      }
    }
    return released
  })
}
