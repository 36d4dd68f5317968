import type { Instant } from '../../core/clock.ts'
import type { Transition } from '../../issues/issue.ts'
import { addHistory } from '../../issues/store.ts'
import { type WindowInForce, windowsInForce } from '../../maintenance/store.ts'
import { type Db, prepared } from '../../store/database.ts'

/** Returns the maintenance window in force for an issue; null when there is none. */
export function windowOfIssue(db: Db, issueId: string, now: Instant): WindowInForce | null {
  const issue = prepared<[string], { orgId: string; domainId: string | null; vendor: string | null }>(
    db,
    `SELECT orgId, domainId, json_extract(evidence, '$.vendor') AS vendor FROM issue WHERE id = ?`,
  ).get(issueId)
  return issue ? windowsInForce(db, issue.orgId, now)(issue) : null
}

/**
 * Records that a window withholds a notification, inside the caller's transaction. The history has one entry for each
 * issue and occurrence of the window, regardless of the number of notifications.
 */
export function withhold(
  db: Db,
  { orgId, issueId, transition, now }: { orgId: string; issueId: string; transition: Transition; now: Instant },
  { id, name, until }: WindowInForce,
): void {
  const known = prepared<[string], { untilAt: Instant }>(db, 'SELECT untilAt FROM withheldIssue WHERE issueId = ?')
  const isRecorded = known.get(issueId) !== undefined
  prepared<[object]>(
    db,
    `INSERT INTO withheldIssue (issueId, orgId, untilAt) VALUES (@issueId, @orgId, @until)
     ON CONFLICT (issueId) DO UPDATE SET untilAt = excluded.untilAt`,
  ).run({ issueId, orgId, until })
  const isOpening = transition === 'opened' || transition === 'reopened'
  if (isRecorded && !isOpening) return
  addHistory(db, issueId, 'held_back', { transition, reason: 'maintenance', windowId: id, window: name, until }, now)
}

/** Looks at an organization's withheld issues again, because its windows have changed. */
export function recheckWithheld(db: Db, orgId: string): void {
  prepared(db, 'UPDATE withheldIssue SET untilAt = 0 WHERE orgId = ?').run(orgId)
}
