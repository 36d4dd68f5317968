import { changeIssue, changeIssues } from '#client/sdk.gen'
import type { Issue, IssueDetail, IssueEvidence, IssueList } from '#client/types.gen'
import { MAX_CHANGED_ISSUES } from '../../../contract/limits.ts'
import { errorMessage } from '../../api/api-error.ts'
import { type CacheUpdate, mutate } from '../../api/mutate.ts'
import { updatePages } from '../../api/pagination.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'

export type IssueStatus = Issue['status']

/** The fields that lists and the issue page share. */
export type AnyIssue = Pick<Issue, 'id' | 'status' | 'severity' | 'hosts' | keyof Mute>

/** How issues are muted: until a time or indefinitely (null), why, and on which hosts (all by default). */
export interface MuteInput {
  mutedUntil: number | null
  muteReason?: string
  mutedHosts?: string[]
}

type Mute = Pick<Issue, 'mutedUntil' | 'muteReason' | 'mutedHosts'>

const FOREVER: MuteInput = { mutedUntil: null }
/** Number of issues that are muted at the same time. */
const PARALLEL = 6

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
const DEPENDENT_QUERIES = ['listIssues', 'getIssue', 'investigateIssue'] as const

/**
 * Sets the status of issues. Issues that can't have this status are left unchanged and mentioned in the message.
 * `mute` applies only to `muted`.
 */
export async function setStatus(issues: readonly AnyIssue[], to: IssueStatus, mute = FOREVER, onRefused?: OnRefused) {
  const able = issues.filter(({ status }) => canTransition(status, to)).slice(0, MAX_CHANGED_ISSUES)
  const left = issues.length - able.length
  if (able.length === 0) return notices.say(messages.issues.noneTo[to])
  const after = able.map((issue) => ({ ...issue, status: to, ...muteAfter(issue, to, mute) }))
  await mutate({
    // A form stays open until the server has accepted it.
    optimistic: onRefused ? [] : cacheUpdates(able, after),
    invalidates: DEPENDENT_QUERIES,
    send: () => send(able, to, mute),
    message: (refused) =>
      messages.issues.done[to](able.length - refused.length, left + refused.length, refused[0] ?? null),
    undo: () => void restoreStatus(able, after, to),
    ...(onRefused && { onRefused }),
  })
}

type OnRefused = (error: unknown) => void

/** Mutes issues like `setStatus`, but throws the error if the server rejects it. */
export async function muteOrFail(issues: readonly AnyIssue[], mute: MuteInput): Promise<void> {
  const errors: unknown[] = []
  await setStatus(issues, 'muted', mute, (error) => errors.push(error))
  for (const error of errors) throw error
}

/** The mute of an issue after a change of its status. An issue that is muted on some hosts only keeps it. */
function muteAfter(issue: AnyIssue, to: IssueStatus, { mutedUntil, muteReason, mutedHosts }: MuteInput): Mute {
  if (to === 'muted') return { mutedUntil: mutedUntil ?? undefined, muteReason, mutedHosts }
  return issue.status === 'muted' ? { mutedUntil: undefined, muteReason: undefined, mutedHosts: undefined } : {}
}

/** Returns the errors for rejected issues. For a single issue, throws the error instead. */
async function send(issues: readonly AnyIssue[], status: IssueStatus, mute = FOREVER): Promise<string[]> {
  const [first] = issues
  if (first === undefined) return []
  if (status === 'muted') return muteEach(issues, mute)
  if (issues.length === 1) {
    await changeIssue({ path: { id: first.id }, body: { status } })
    return []
  }
  const body = { ids: issues.map(({ id }) => id), status }
  return (await changeIssues({ body })).data.errors.map(({ error }) => error)
}

/** Like `send`. Throws the first error if no issue could be muted. */
async function muteEach(issues: readonly AnyIssue[], mute: MuteInput): Promise<string[]> {
  const errors: unknown[] = []
  for (let at = 0; at < issues.length; at += PARALLEL) {
    const requests = issues
      .slice(at, at + PARALLEL)
      .map(({ id }) => changeIssue({ path: { id }, body: { status: 'muted', ...mute } }))
    for (const result of await Promise.allSettled(requests)) {
      if (result.status === 'rejected') errors.push(result.reason)
    }
  }
  if (errors.length === issues.length) throw errors[0]
  return errors.map(errorMessage)
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
          if (step !== 'muted') await send(issues, step)
          else for (const issue of issues) await send([issue], step, muteOf(issue))
        }
      }
    },
    message: messages.issues.undone(before.length),
  })
}

const muteOf = ({ mutedUntil, muteReason, mutedHosts }: Mute): MuteInput => ({
  mutedUntil: mutedUntil ?? null,
  ...(muteReason !== undefined && { muteReason }),
  ...(mutedHosts !== undefined && { mutedHosts }),
})

/** Ends the muting of hosts of an issue that has reopened on another host. */
export const unmuteHosts = ({ id }: Pick<Issue, 'id'>) =>
  mutate({
    send: () => changeIssue({ path: { id }, body: { mutedHosts: [] } }),
    invalidates: DEPENDENT_QUERIES,
    message: messages.issues.hostsUnmuted,
  })

/** Cache updates that replace the issues in `before` with those in `after`. */
function cacheUpdates(before: readonly AnyIssue[], after: readonly AnyIssue[]): CacheUpdate[] {
  const next = new Map(after.map((issue) => [issue.id, issue]))
  const change = <T extends Issue | IssueDetail>(issue: T): T => {
    const to = next.get(issue.id)
    if (!to) return issue
    const { status, mutedUntil, muteReason, mutedHosts } = to
    return { ...issue, status, mutedUntil, muteReason, mutedHosts }
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
