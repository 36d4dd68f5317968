import type { AlertChannel } from '../alerts/alert.ts'
import { unsealChannel } from '../alerts/encrypt-channel-target.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { NextCursorSchema } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { tx } from '../store/database.ts'
import type { IssueBulkInput, IssuePatch } from './issue.ts'
import {
  type Enqueue,
  IssueBulkInputSchema,
  type IssueDetail,
  IssueDetailSchema,
  IssuePatchSchema,
  IssueSchema,
} from './issue.ts'
import { dailyCountsOf, IssueQuerySchema, listIssues, openCounts, TREND_DAYS } from './list-issues.ts'
import { applyChanges, claimIssue, findIssue, issueRecord, type ManualChange, setAssignee, setStatus } from './store.ts'
import { muteFrom, rewriteNotes, unmuteHosts } from './transition-issue.ts'

const tag = 'Issues'

const IssueListSchema = Closed(
  {
    issues: Type.Array(IssueSchema),
    nextCursor: NextCursorSchema,
    openCounts: Closed({ critical: Int(), high: Int(), medium: Int(), low: Int() }),
    dailyCounts: Type.Record(Type.String(), Type.Array(Int()), {
      description:
        `Occurrences of each listed issue by UTC day over the last ${TREND_DAYS} days, oldest first, keyed by issue id. ` +
        'The last day is incomplete',
      examples: [{ iss_01ke7k3h20x6b4n8r1t9v5c7zd: [...Array(TREND_DAYS - 2).fill(0), 12, 30] }],
    }),
  },
  { $id: 'IssueList' },
)

const IssueBulkResultSchema = Closed(
  {
    updated: Int({ description: 'Number of issues that now have the requested status and assignee' }),
    failed: Int(),
    errors: Type.Array(Closed({ index: Int({ description: 'Index of the id in `ids`' }), error: Type.String() })),
  },
  {
    $id: 'IssueBulkResult',
    examples: [{ updated: 1, failed: 1, errors: [{ index: 1, error: 'id: issue iss_none does not exist' }] }],
  },
)

/**
 * `enqueue` is called inside the transaction of a change, for every notification that the change causes or withdraws.
 */
interface IssueRoutesDeps {
  db: Db
  /** Decrypts channel targets. */
  box: SecretBox
  clock: Clock
  enqueue: Enqueue
}

/** Returns an issue as the caller may see it: notification channels are hidden from viewers and read-only keys. */
export function describeIssue(box: SecretBox, detail: IssueDetail, principal: Principal): IssueDetail {
  const isShown = may(principal, 'seeTokens')
  const unsealed = (channel: AlertChannel) => unsealChannel(box, channel)
  const history = detail.history.map((entry) => {
    const { channel, channels, ...rest } = entry.payload ?? {}
    if (channel === undefined && channels === undefined) return entry
    const shown = {
      ...(channel ? { channel: unsealed(channel as AlertChannel) } : {}),
      ...(channels ? { channels: (channels as AlertChannel[]).map(unsealed) } : {}),
    }
    return { ...entry, payload: isShown ? { ...rest, ...shown } : rest }
  })
  const { nextEscalation: next } = detail
  if (!next) return { ...detail, history }
  const { channels = [], ...when } = next
  return { ...detail, history, nextEscalation: isShown ? { ...when, channels: channels.map(unsealed) } : when }
}

/** Routes under `/v1/issues`. */
export function issueRoutes({ db, box, clock, enqueue }: IssueRoutesDeps): Route[] {
  const handOf = ({ orgId, userId }: Principal): ManualChange => ({ orgId, by: userId, now: clock.now() })
  return [
    route({
      id: 'listIssues',
      method: 'GET',
      path: '/v1/issues',
      access: 'read',
      tag,
      summary: 'List issues, most severe first by default',
      description:
        'A filter with several values matches any of them. `openCounts` counts all open issues of the organization, ' +
        'regardless of filters.',
      refusals: ['notFound'],
      tool: true,
      query: IssueQuerySchema,
      answer: IssueListSchema,
      exports: 'issues',
      handle({ principal: { orgId, userId }, query }) {
        const assigneeId = query.assigneeId?.map((id) => (id === 'me' ? userId : id))
        const now = clock.now()
        const { items, nextCursor } = listIssues(db, orgId, assigneeId ? { ...query, assigneeId } : query, now)
        const ids = items.map(({ id }) => id)
        const dailyCounts = dailyCountsOf(db, ids, now)
        return { issues: items, nextCursor, openCounts: openCounts(db, orgId), dailyCounts }
      },
    }),
    route({
      id: 'getIssue',
      method: 'GET',
      path: '/v1/issues/{id}',
      access: 'read',
      tag,
      summary: 'Get an issue with its daily occurrences and history',
      tool: true,
      params: ById,
      answer: IssueDetailSchema,
      handle: ({ principal, params }) =>
        describeIssue(box, findIssue(db, principal.orgId, params.id, clock.now()), principal),
    }),
    route({
      id: 'changeIssue',
      method: 'PATCH',
      path: '/v1/issues/{id}',
      access: 'edit',
      tag,
      summary: 'Update the status, notes or assignee of an issue',
      description:
        'Allowed status changes: open ↔ acknowledged, any → resolved, any → muted, muted → open, resolved → open. Others are ' +
        'rejected with 409. The notification of a resolution is delayed by 10 s and withdrawn if the issue is reopened. A ' +
        '`muted` issue without `mutedUntil` stays muted until a user unmutes it; with `mutedHosts`, occurrences on other ' +
        'hosts reopen it. Acknowledging an unassigned issue assigns ' +
        'it to the caller, unless `assigneeId` is given. A new assignee is notified by e-mail.',
      refusals: ['conflict'],
      tool: true,
      params: ById,
      body: IssuePatchSchema,
      answer: IssueDetailSchema,
      handle: ({ principal, params, body }) =>
        describeIssue(box, patchIssue(db, handOf(principal), params.id, body, enqueue), principal),
    }),
    route({
      id: 'changeIssues',
      method: 'POST',
      path: '/v1/issues/bulk',
      access: 'edit',
      tag,
      summary: 'Update the status or assignee of several issues',
      description:
        'Each issue is updated independently: unknown ids and invalid changes are listed in `errors`. `status`, ' +
        '`assigneeId` or both are required.',
      tool: true,
      body: IssueBulkInputSchema,
      answer: IssueBulkResultSchema,
      handle: ({ principal, body }) => changeIssues(db, handOf(principal), body, enqueue),
    }),
  ]
}

/**
 * Applies all changes or none. Notes are applied first, so that the resolution notification can quote them. Fails
 * like `setStatus`, and with `invalid` if a field of a mute is given without status `muted`.
 */
export function patchIssue(
  db: Db,
  hand: ManualChange,
  issueId: string,
  patch: IssuePatch,
  enqueue: Enqueue,
): IssueDetail {
  return tx(db, () => {
    applyPatch(db, hand, issueId, patch, enqueue)
    return findIssue(db, hand.orgId, issueId, hand.now)
  })
}

function applyPatch(db: Db, hand: ManualChange, issueId: string, patch: IssuePatch, enqueue: Enqueue): void {
  const { status, notes, assigneeId, mutedHosts } = patch
  if (status !== 'muted') refuseMute(patch)
  tx(db, () => {
    const issue = issueRecord(db, hand.orgId, issueId)
    if (notes !== undefined) applyChanges(db, rewriteNotes(issue, notes, hand.by, hand.now), enqueue)
    if (assigneeId !== undefined) setAssignee(db, hand, issueId, assigneeId, enqueue)
    if (status === 'muted') setStatus(db, hand, issueId, status, enqueue, muteFrom(issue, patch))
    else if (status !== undefined) setStatus(db, hand, issueId, status, enqueue)
    else if (mutedHosts !== undefined) applyChanges(db, unmuteHosts(issue, hand.by, hand.now), enqueue)
    if (status === 'acknowledged' && assigneeId === undefined) claimIssue(db, hand, issueId, enqueue)
  })
}

function refuseMute({ mutedUntil, muteReason, mutedHosts }: IssuePatch): void {
  const given = { mutedUntil, muteReason, mutedHosts: mutedHosts?.length ? mutedHosts : null }
  for (const [name, value] of Object.entries(given)) {
    if (value !== null && value !== undefined) throw new AppError('invalid', `${name}: requires \`status: "muted"\``)
  }
}

/** The number of updated and failed issues, and the errors by `index` in `ids`. */
interface BulkResult {
  updated: number
  failed: number
  errors: { index: number; error: string }[]
}

/**
 * Updates each issue independently. An issue that does not exist or does not allow the change does not affect the
 * others. Fails with `invalid` if the change contains neither a status nor an assignee.
 */
export function changeIssues(
  db: Db,
  hand: ManualChange,
  { ids, ...patch }: IssueBulkInput,
  enqueue: Enqueue,
): BulkResult {
  if (patch.status === undefined && patch.assigneeId === undefined) {
    throw new AppError('invalid', 'status: is missing; give `status`, `assigneeId` or both')
  }
  return tx(db, () => {
    const errors: BulkResult['errors'] = []
    for (const [index, id] of ids.entries()) {
      try {
        applyPatch(db, hand, id, patch, enqueue)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        errors.push({ index, error: error.message })
      }
    }
    return { updated: ids.length - errors.length, failed: errors.length, errors }
  })
}
