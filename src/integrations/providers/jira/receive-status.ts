import type { Instant } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import type { InboundCall } from '../provider.ts'
import type { LinkedIssue } from '../provider-context.ts'
import { fieldsIn, type JiraInbound, userIdOf } from './jira-client.ts'
import type { Category, Ticket } from './jira-state.ts'
import { type FoundTicket, ticketIn } from './search-tickets.ts'

export type LinkedTicket = LinkedIssue<Ticket>

const STATUS_OF: Record<Category, IssueStatus> = { new: 'open', indeterminate: 'acknowledged', done: 'resolved' }

/** A ticket that was moved to another project is looked for among so many. */
const LOOKED_THROUGH = 1000

/** Takes in what happened to a ticket; true when something follows from it here. */
export async function takeCall(context: JiraInbound, { headers, body }: InboundCall): Promise<boolean> {
  const found = ticketIn(body.issue)
  const linked = linkedTo(context, found)
  if (!linked) return false
  const id = headers.get('x-atlassian-webhook-identifier') ?? ''
  if (id !== '' && context.isRepeat(id)) return false
  const processed = await takeEvent(context, linked, found, body)
  if (id !== '') context.noteCall(id)
  return processed
}

async function takeEvent(
  context: JiraInbound,
  linked: LinkedTicket,
  found: FoundTicket,
  body: Record<string, unknown>,
): Promise<boolean> {
  if (body.webhookEvent === 'jira:issue_deleted') {
    await remember(context, linked, { isGone: true })
    return !linked.memory.isGone
  }
  const { user } = body
  const changedAt = typeof body.timestamp === 'number' ? body.timestamp : null
  const isOurs = userIdOf(user) !== '' && userIdOf(user) === context.state?.me
  if (isOurs) return false
  return takeStatus(context, linked, found, { changedAt, by: editorIn(context, user) })
}

/** The issue whose ticket it is; moved to another project it has another key, and the same id. */
function linkedTo(context: JiraInbound, { id, key }: FoundTicket): LinkedTicket | null {
  if (key === '') return null
  const byId = () => (id === '' ? undefined : context.issues(LOOKED_THROUGH).find(({ memory }) => memory.id === id))
  return context.issueByTicket(key) ?? byId() ?? null
}

/** The member who did it; null when nobody here has that address, or Jira does not tell it. */
function editorIn(context: JiraInbound, user: unknown): string | null {
  const { emailAddress } = fieldsIn(user)
  return typeof emailAddress === 'string' ? (context.editorOf(emailAddress)?.userId ?? null) : null
}

/**
 * Gives an issue the status that its ticket has come to. What counts is that the ticket was in another category when it was
 * looked at last: a status that is still to be shown there is not undone. True when the issue changed.
 */
export async function takeStatus(
  context: JiraInbound,
  linked: LinkedTicket,
  { key, status: { category } }: FoundTicket,
  { changedAt, by }: { changedAt: Instant | null; by: string | null },
): Promise<boolean> {
  const { memory } = linked
  // Calls may come late, and in another order.
  if (category === null || (changedAt !== null && changedAt < memory.changedAt)) return false
  const seen = { key, category, isGone: false, changedAt: changedAt ?? memory.changedAt }
  const isMoved = memory.category !== null && memory.category !== category
  const isGiven = isMoved && give(context, linked, STATUS_OF[category], by)
  await remember(context, linked, { ...seen, ...(isGiven ? { given: STATUS_OF[category] } : {}) })
  return isGiven
}

function give(
  context: JiraInbound,
  { issueId, status, target }: LinkedTicket,
  to: IssueStatus,
  by: string | null,
): boolean {
  // Muted is said here and means nothing there: only its end is taken in.
  if (status === 'muted' && to !== 'resolved') return false
  const isReopened = status === 'resolved' && to === 'acknowledged'
  if (isReopened && !context.setStatus(issueId, 'open', by, target)) return false
  return context.setStatus(issueId, to, by, target)
}

/** Changes a part of what is remembered of the ticket. */
export const remember = (context: JiraInbound, { issueId, memory, target }: LinkedTicket, part: Partial<Ticket>) =>
  context.remember(issueId, { ...memory, ...part }, { target, ...(part.key ? { ticketKey: part.key } : {}) })
