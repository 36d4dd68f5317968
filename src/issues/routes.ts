import type { Clock } from '../core/clock.ts'
import { Closed, Int, Nullable, Type } from '../core/schema.ts'
import { type Authenticate, controller } from '../http/controller.ts'
import type { Principal } from '../http/principal.ts'
import type { Db } from '../store/database.ts'
import { type Enqueue, IssueBulkInputSchema, IssueDetailSchema, IssuePatchSchema, IssueSchema } from './issue.ts'
import { IssueQuerySchema, listIssues, openCounts } from './list.ts'
import { type ByHand, findIssue, patchIssue, setStatuses } from './store.ts'

const tags = ['Issues']
const path = Closed({ id: Type.String() })

const IssueListSchema = Closed({
  issues: Type.Array(IssueSchema),
  nextCursor: Nullable(Type.String()),
  openCounts: Closed({ critical: Int(), high: Int(), medium: Int(), low: Int() }),
})

const IssueBulkResultSchema = Closed({
  updated: Int({ description: 'Have the status now' }),
  failed: Int(),
  errors: Type.Array(Closed({ index: Int({ description: 'Place in `ids`' }), error: Type.String() })),
})

/** `enqueue` is called inside the transaction of a change, for every notice that it causes or takes back. */
export interface IssueRoutesParts {
  db: Db
  clock: Clock
  authenticate: Authenticate
  enqueue: Enqueue
}

/** Reading and changing issues under `/v1/issues`. */
export function issueRoutes({ db, clock, authenticate, enqueue }: IssueRoutesParts) {
  const handOf = (principal: Principal): ByHand => ({
    orgId: principal.orgId,
    by: principal.userId,
    now: clock.now(),
  })
  return controller(authenticate)
    .get(
      '/issues',
      ({ principal: { orgId }, query }) => ({
        ...listIssues(db, orgId, query),
        openCounts: openCounts(db, orgId),
      }),
      {
        access: 'read',
        query: IssueQuerySchema,
        response: IssueListSchema,
        detail: {
          summary: 'List issues, the gravest first',
          description: '`openCounts` counts all open issues of the organization, whatever the filters say.',
          tags,
        },
      },
    )
    .get('/issues/:id', ({ principal, params }) => findIssue(db, principal.orgId, params.id), {
      access: 'read',
      params: path,
      response: IssueDetailSchema,
      detail: { summary: 'Read an issue with its daily occurrences and its history', tags },
    })
    .patch(
      '/issues/:id',
      ({ principal, params, body }) => patchIssue(db, handOf(principal), params.id, body, enqueue),
      {
        access: 'member',
        params: path,
        body: IssuePatchSchema,
        response: IssueDetailSchema,
        detail: {
          summary: 'Change the status or the notes of an issue',
          description:
            'open ↔ acknowledged, any → resolved, any → muted, muted → open, resolved → open; other changes are ' +
            'answered with 409. The notice of a resolution waits 10 s and is withdrawn when the issue is opened again.',
          tags,
        },
      },
    )
    .post('/issues/bulk', ({ principal, body }) => setStatuses(db, handOf(principal), body, enqueue), {
      access: 'member',
      body: IssueBulkInputSchema,
      response: IssueBulkResultSchema,
      detail: {
        summary: 'Change the status of many issues',
        description: 'Each by itself: an unknown id or a forbidden change is listed in `errors`, the others go ahead.',
        tags,
      },
    })
}
