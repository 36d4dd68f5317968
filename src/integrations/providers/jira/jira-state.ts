import type { Instant } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'

/** Status categories: to do, in progress, done. Jira's fourth category, `undefined`, is not used. */
export const CATEGORIES = ['new', 'indeterminate', 'done'] as const
export type Category = (typeof CATEGORIES)[number]

/** Stored memory of an issue's ticket. */
export interface Ticket {
  /** Null if no ticket is known. */
  id: string | null
  key: string | null
  /**
   * Set while it is unknown whether a ticket was created. Until this time, Tagwarden searches for the ticket and does
   * not create another.
   */
  until: Instant | null
  /** The most recently seen category. Null if unknown, and while Tagwarden changes the status. */
  category: Category | null
  /** Jira's timestamp of the most recently applied change. */
  changedAt: Instant
  /** True if the ticket was deleted in Jira. */
  isGone: boolean
  /**
   * The issue status that came from the ticket, as long as it is current. Messages about this status are not sent back
   * to the ticket.
   */
  given: IssueStatus | null
  /** The delivery whose comment was sent to Jira but not confirmed. */
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
  /** Id of the integration's own account. See `userIdOf`. */
  me?: string
  /** Time of the most recent poll. */
  polledAt?: Instant
}
