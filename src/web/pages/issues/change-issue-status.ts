import { changeIssue, changeIssues } from '#client/sdk.gen'
import type { Issue, IssueDetail, IssueEvidence, IssueList } from '#client/types.gen'
import { MAX_CHANGED_ISSUES } from '../../../contract/limits.ts'
import { type CacheUpdate, mutate } from '../../api/mutate.ts'
import { updatePages } from '../../api/pagination.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'

export type IssueStatus = Issue['status']

/** The fields that lists and the issue page share. */
type AnyIssue = Pick<Issue, 'id' | 'status' | 'severity' | 'mutedUntil'>

/** For each status, the statuses from which a person can set it. The server rejects all other changes. */
const ALLOWED_FROM: Readonly<Record<IssueStatus, readonly IssueStatus[]>> = {
  open: ['acknowledged', 'resolved', 'muted'],
  acknowledged: ['open'],
  resolved: ['open', 'acknowledged', 'muted'],
  muted: ['open', 'acknowledged', 'resolved'],
}

/** True when a person can change the status from `from` to `to`. */
export const canTransition = (from: IssueStatus, to: IssueStatus): boolean => ALLOWED_FROM[to].includes(from)

/** The statuses to set, in sequence, to change `from` into `to`: `resolved` to `acknowledged` goes through `open`. */
const statusPath = (from: IssueStatus, to: IssueStatus): readonly IssueStatus[] =>
  from === to ? [] : canTransition(from, to) ? [to] : ['open', to]

/** Queries that depend on the status of an issue. */
const DEPENDENT_QUERIES = ['getIssue', 'investigateIssue'] as const

/**
 * Sets the status of issues. Issues that can't have this status are left unchanged and mentioned in the message.
 * `mutedUntil` applies only to `muted`: milliseconds since the epoch; null: indefinitely.
 */
export async function setStatus(issues: readonly AnyIssue[], to: IssueStatus, mutedUntil: number | null = null) {
  const able = issues.filter(({ status }) => canTransition(status, to)).slice(0, MAX_CHANGED_ISSUES)
  const left = issues.length - able.length
  if (able.length === 0) return notices.say(messages.issues.noneTo[to])
  const after = able.map((issue) => ({ ...issue, status: to, mutedUntil: mutedUntil ?? undefined }))
  await mutate({
    optimistic: cacheUpdates(able, after),
    invalidates: DEPENDENT_QUERIES,
    send: () => send(able, to, mutedUntil),
    message: (refused) =>
      messages.issues.done[to](able.length - refused.length, left + refused.length, refused[0] ?? null),
    undo: () => void restoreStatus(able, after, to),
  })
}

/** Returns the errors for rejected issues. For a single issue, throws the error instead. */
async function send(issues: readonly AnyIssue[], status: IssueStatus, mutedUntil: number | null): Promise<string[]> {
  const [first] = issues
  if (first === undefined) return []
  if (issues.length === 1 || status === 'muted') {
    for (const { id } of issues) {
      const body = { status, ...(status === 'muted' && { mutedUntil }) }
      await changeIssue({ path: { id }, body })
    }
    return []
  }
  const body = { ids: issues.map(({ id }) => id), status }
  return (await changeIssues({ body })).data.errors.map(({ error }) => error)
}

/** Restores the previous status of each issue. */
async function restoreStatus(
  before: readonly AnyIssue[],
  present: readonly AnyIssue[],
  now: IssueStatus,
): Promise<void> {
  await mutate({
    optimistic: cacheUpdates(present, before),
    invalidates: DEPENDENT_QUERIES,
    send: async () => {
      for (const [status, issues] of Map.groupBy(before, (issue) => issue.status)) {
        for (const step of statusPath(now, status)) {
          if (step !== 'muted') await send(issues, step, null)
          else for (const issue of issues) await send([issue], step, issue.mutedUntil ?? null)
        }
      }
    },
    message: messages.issues.undone(before.length),
  })
}

/** Cache updates that replace the issues in `before` with those in `after`. */
function cacheUpdates(before: readonly AnyIssue[], after: readonly AnyIssue[]): CacheUpdate[] {
  const next = new Map(after.map((issue) => [issue.id, issue]))
  const change = <T extends Issue | IssueDetail>(issue: T): T => {
    const to = next.get(issue.id)
    return to ? { ...issue, status: to.status, mutedUntil: to.mutedUntil } : issue
  }
  const count = (counts: IssueList['openCounts'], issues: readonly AnyIssue[], sign: 1 | -1) => {
    for (const { status, severity } of issues) if (status === 'open') counts[severity] += sign
  }
  const inList = (list: IssueList): IssueList => {
    const openCounts = { ...list.openCounts }
    count(openCounts, before, -1)
    count(openCounts, after, 1)
    return { ...list, issues: list.issues.map(change), openCounts }
  }
  return [
    { queryKey: [{ _id: 'listIssues' }], update: updatePages(inList) },
    { queryKey: [{ _id: 'getIssue' }], update: change },
    {
      queryKey: [{ _id: 'investigateIssue' }],
      update: (evidence: IssueEvidence): IssueEvidence => ({ ...evidence, issue: change(evidence.issue) }),
    },
  ]
}
