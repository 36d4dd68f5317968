import type { Clock } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { pagingFields } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { IssueCommentInputSchema, IssueCommentListSchema, MAX_COMMENTS } from './comment.ts'
import { addComment, deleteComment, listComments } from './comment-store.ts'
import type { Enqueue } from './issue.ts'
import type { ManualChange } from './store.ts'

interface CommentRouteDeps {
  db: Db
  clock: Clock
  /** Called inside the transaction of a comment, for each member to notify. */
  enqueue: Enqueue
}

const tag = 'Issues'
const path = '/v1/issues/{id}/comments'
const ByComment = Closed({ id: Type.String({ maxLength: 100 }), commentId: Type.String({ maxLength: 100 }) })

/** Routes for the comments on issues. */
export function commentRoutes({ db, clock, enqueue }: CommentRouteDeps): Route[] {
  const handOf = ({ orgId, userId }: Principal): ManualChange => ({ orgId, by: userId, now: clock.now() })
  const pageOf = (orgId: string, issueId: string, query: Parameters<typeof listComments>[3] = {}) => {
    const { items, nextCursor } = listComments(db, orgId, issueId, query)
    return { comments: items, nextCursor }
  }
  return [
    route({
      id: 'listIssueComments',
      method: 'GET',
      path,
      access: 'read',
      tag,
      summary: 'List the comments on an issue, newest first',
      tool: true,
      params: ById,
      query: Closed(pagingFields),
      answer: IssueCommentListSchema,
      exports: 'comments',
      handle: ({ principal: { orgId }, params: { id }, query }) => pageOf(orgId, id, query),
    }),
    route({
      id: 'addIssueComment',
      method: 'POST',
      path,
      access: 'edit',
      tag,
      summary: 'Comment on an issue',
      description:
        'Mentioned members, except the author, are notified by e-mail; the channels of the alert are not. Returns the ' +
        `most recent comments. An issue has at most ${MAX_COMMENTS} comments.`,
      refusals: ['conflict'],
      tool: true,
      params: ById,
      body: IssueCommentInputSchema,
      status: 201,
      answer: IssueCommentListSchema,
      handle({ principal, params: { id }, body: { body } }) {
        addComment(db, handOf(principal), id, body, enqueue)
        return pageOf(principal.orgId, id)
      },
    }),
    route({
      id: 'deleteIssueComment',
      method: 'DELETE',
      path: `${path}/{commentId}`,
      access: 'edit',
      tag,
      summary: 'Delete a comment of your own',
      tool: true,
      params: ByComment,
      answer: OkSchema,
      handle({ principal, params: { id, commentId } }) {
        deleteComment(db, handOf(principal), id, commentId)
        return OK
      },
    }),
  ]
}
