import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { activeMembers } from '../org/member-store.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { type IssueComment, MAX_COMMENTS, mentionedIn } from './comment.ts'
import type { Enqueue } from './issue.ts'
import { addHistory, issueRecord, type ManualChange } from './store.ts'

/**
 * Returns a page of an issue's comments, newest first. Fails with `notFound` if the issue does not exist in the
 * organization.
 */
export function listComments(db: Db, orgId: string, issueId: string, page: PageRequest): Page<IssueComment> {
  issueRecord(db, orgId, issueId)
  return readPage(db, page, {
    sql: `SELECT seq, issueComment.id AS id, userId, coalesce(nullif(name, ''), 'a member') AS name, body,
        issueComment.createdAt AS createdAt
      FROM issueComment LEFT JOIN user ON user.id = userId WHERE issueId = @issueId`,
    values: { issueId },
    sortBy: 'seq',
    descending: true,
    itemOf: ({ seq: _, ...comment }: IssueComment & { seq: number }): IssueComment => comment,
  })
}

/**
 * Adds a comment and notifies the mentioned members, except the author, by e-mail. Fails with `notFound` if the issue
 * does not exist in the organization, with `invalid` for a blank text, and with `conflict` if the issue has the maximum
 * number of comments.
 */
export function addComment(db: Db, hand: ManualChange, issueId: string, body: string, enqueue: Enqueue): void {
  const { orgId, by, now } = hand
  if (body.trim() === '') throw new AppError('invalid', 'body: must not be blank')
  tx(db, () => {
    const issue = issueRecord(db, orgId, issueId)
    if (issue.commentCount >= MAX_COMMENTS) {
      throw new AppError('conflict', `body: an issue has at most ${MAX_COMMENTS} comments; delete one first`)
    }
    const id = newId('cmt', now)
    const insert = 'INSERT INTO issueComment (id, issueId, userId, body, createdAt) VALUES (?, ?, ?, ?, ?)'
    prepared(db, insert).run(id, issueId, by, body, now)
    prepared(db, 'UPDATE issue SET commentCount = commentCount + 1 WHERE id = ?').run(issueId)
    const mentioned = mentionedIn(body, activeMembers(db, orgId))
    const historySeq = addHistory(db, issueId, 'commented', { by, commentId: id, mentioned }, now)
    for (const userId of mentioned) {
      if (userId === by) continue
      enqueue({ kind: 'mail', issueId, historySeq, at: now, reason: 'mentioned', userId, by, comment: body })
    }
  })
}

/** Deletes a comment of the caller. Fails with `notFound`, and with `forbidden` for another member's comment. */
export function deleteComment(db: Db, { orgId, by }: ManualChange, issueId: string, commentId: string): void {
  tx(db, () => {
    issueRecord(db, orgId, issueId)
    const find = prepared<[string, string], { userId: string }>(
      db,
      'SELECT userId FROM issueComment WHERE issueId = ? AND id = ?',
    )
    const comment = find.get(issueId, commentId)
    if (!comment) throw new AppError('notFound', 'no such comment')
    if (comment.userId !== by) throw new AppError('forbidden', 'only the author can delete a comment')
    prepared(db, 'DELETE FROM issueComment WHERE id = ?').run(commentId)
    prepared(db, 'UPDATE issue SET commentCount = commentCount - 1 WHERE id = ?').run(issueId)
  })
}
