import { AppError } from '../core/error.ts'
import { type Db, tx } from '../store/database.ts'
import type { Enqueue, IssueBulkInput, IssueDetail, IssuePatch } from './issue.ts'
import { applyChanges, type ByHand, findIssue, issueRecord, setStatus } from './store.ts'
import { rewriteNotes } from './transition.ts'

/**
 * Applies both changes or neither: notes first, so that the notice of a resolution can quote them. Fails as `setStatus`
 * does, and with `invalid` when `mutedUntil` comes without `muted`.
 */
export function patchIssue(db: Db, hand: ByHand, issueId: string, patch: IssuePatch, enqueue: Enqueue): IssueDetail {
  const { status, notes, mutedUntil = null } = patch
  if (mutedUntil !== null && status !== 'muted')
    throw new AppError('invalid', 'mutedUntil: goes with `status: "muted"`')
  return tx(db, () => {
    const issue = issueRecord(db, hand.orgId, issueId)
    if (notes !== undefined) applyChanges(db, rewriteNotes(issue, notes, hand.by, hand.now), enqueue)
    if (status !== undefined) setStatus(db, hand, issueId, status, enqueue, mutedUntil)
    return findIssue(db, hand.orgId, issueId)
  })
}

/** How many issues have the status now, how many could not get it, and why: `index` is the index in `ids`. */
export interface BulkResult {
  updated: number
  failed: number
  errors: { index: number; error: string }[]
}

/** Changes each issue by itself: one that is unknown or can't have the status does not affect the others. */
export function setStatuses(db: Db, hand: ByHand, { ids, status }: IssueBulkInput, enqueue: Enqueue): BulkResult {
  return tx(db, () => {
    const errors: BulkResult['errors'] = []
    for (const [index, id] of ids.entries()) {
      try {
        setStatus(db, hand, id, status, enqueue)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        errors.push({ index, error: error.message })
      }
    }
    return { updated: ids.length - errors.length, failed: errors.length, errors }
  })
}
