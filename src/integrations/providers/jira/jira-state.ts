import type { Instant } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'

/** Status categories: to do, in progress, done. Jira's fourth, `undefined`, has no meaning here. */
export const CATEGORIES = ['new', 'indeterminate', 'done'] as const
export type Category = (typeof CATEGORIES)[number]

/** Stored memory of an issue's ticket. */
export interface Ticket {
  /** Null: no known ticket. */
  id: string | null
  key: string | null
  /** Set when it is unknown whether a ticket was created: until then the ticket is searched and no other created. */
  until: Instant | null
  /** The most recently seen category; null while Tagwarden changes the status, or if unknown. */
  category: Category | null
  /** Jira's timestamp of the most recently applied change. */
  changedAt: Instant
  /** True if the ticket was deleted in Jira. */
  isGone: boolean
  /** The issue status that came from the ticket, while it is current. Deliveries about it are not sent back to the ticket. */
  given: IssueStatus | null
  /** The delivery whose comment was requested and may exist. */
  comment: string | null
}

export const NO_TICKET: Ticket = {
  id: null,
  key: null,
  until: null,
  category: null,
  changedAt: 0,
  isGone: false,
  given: null,
  comment: null,
}

/** Saved state of an integration. */
export interface JiraState {
  /** Id of the integration's own account, see `userIdOf`. */
  me?: string
  /** Time of the most recent poll. */
  polledAt?: Instant
}
