import type { Issue } from '#client/types.gen'

export type IssueStatus = Issue['status']

/** The statuses from which a person can set each status; the server rejects others. */
const FROM: Readonly<Record<IssueStatus, readonly IssueStatus[]>> = {
  open: ['acknowledged', 'resolved', 'muted'],
  acknowledged: ['open'],
  resolved: ['open', 'acknowledged', 'muted'],
  muted: ['open', 'acknowledged', 'resolved'],
}

/** True when a person can change the status from one to the other. */
export const canBecome = (from: IssueStatus, to: IssueStatus): boolean => FROM[to].includes(from)

/** The statuses to set in order to get from one to the other: `resolved` to `acknowledged` goes through `open`. */
export const wayBetween = (from: IssueStatus, to: IssueStatus): readonly IssueStatus[] =>
  from === to ? [] : canBecome(from, to) ? [to] : ['open', to]
