import type { Instant } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'

/** What tickets are: still to be begun, under way, done. Jira has a fourth, `undefined`, which says nothing. */
export const CATEGORIES = ['new', 'indeterminate', 'done'] as const
export type Category = (typeof CATEGORIES)[number]

/** What is remembered of an issue's ticket. */
export interface Ticket {
  /** Null: there is none that we know of. */
  id: string | null
  key: string | null
  /** A ticket was asked for and nobody knows if it was made: until then it is looked for and no other is made. */
  until: Instant | null
  /** Of its status when it was last looked at; null while we move it, or when that is not known. */
  category: Category | null
  /** Jira's time of the last change of its status that was taken in. */
  changedAt: Instant
  /** Somebody deleted it. */
  isGone: boolean
  /** The status that the issue was given from there, while it is the last one: what is told of it is not sent back. */
  given: IssueStatus | null
  /** The delivery whose comment was asked for and may stand there. */
  comment: string | null
}

export const NO_TICKET: Ticket = {
  ...{ id: null, key: null, until: null, category: null },
  ...{ changedAt: 0, isGone: false, given: null, comment: null },
}

/** What is remembered of an integration. */
export interface JiraState {
  /** Id of our own account there, as in `userIdOf`. */
  me?: string
  /** When tickets were looked at last. */
  polledAt?: Instant
}
