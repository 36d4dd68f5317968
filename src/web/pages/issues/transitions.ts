import type { Issue } from '#client/types.gen'

export type IssueStatus = Issue['status']

/** From which statuses an issue can be brought to each by hand; the server refuses the others. */
const FROM: Readonly<Record<IssueStatus, readonly IssueStatus[]>> = {
  open: ['acknowledged', 'resolved', 'muted'],
  acknowledged: ['open'],
  resolved: ['open', 'acknowledged', 'muted'],
  muted: ['open', 'acknowledged', 'resolved'],
}

/** True when an issue of this status can be brought to the other by hand. */
export const canBecome = (from: IssueStatus, to: IssueStatus): boolean => FROM[to].includes(from)

/** The statuses that lead from one to the other, the last of them the goal: `resolved` to `acknowledged` goes by `open`. */
export const wayBetween = (from: IssueStatus, to: IssueStatus): readonly IssueStatus[] =>
  from === to ? [] : canBecome(from, to) ? [to] : ['open', to]
