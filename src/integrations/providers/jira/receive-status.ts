import type { Instant } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import type { InboundCall } from '../connector.ts'
import type { LinkedIssue } from '../provider-context.ts'
import { fieldsIn, type JiraInbound, userIdOf } from './jira-client.ts'
import type { Category, Ticket } from './jira-state.ts'
import { type FoundTicket, ticketIn } from './search-tickets.ts'

export type LinkedTicket = LinkedIssue<Ticket>

const STATUS_OF: Record<Category, IssueStatus> = { new: 'open', indeterminate: 'acknowledged', done: 'resolved' }

/** Maximum number of issues searched to find the one linked to a ticket that was moved to another project. */
const MAX_SEARCHED = 1000

/** Handles a webhook call about a ticket. Returns true if the call changed anything in Tagwarden. */
export async function receiveCall(context: JiraInbound, { headers, body }: InboundCall): Promise<boolean> {
  const found = ticketIn(body.issue)
  const linked = linkedTo(context, found)
  if (!linked) return false
  const id = headers.get('x-atlassian-webhook-identifier') ?? ''
  if (id !== '' && context.isRepeat(id)) return false
  const processed = await applyEvent(context, linked, found, body)
  if (id !== '') context.noteCall(id)
  return processed
}

async function applyEvent(
  context: JiraInbound,
  linked: LinkedTicket,
  found: FoundTicket,
  body: Record<string, unknown>,
): Promise<boolean> {
  if (body.webhookEvent === 'jira:issue_deleted') {
    await updateLinkedTicket(context, linked, { isGone: true })
    return !linked.memory.isGone
  }
  const { user } = body
  const changedAt = typeof body.timestamp === 'number' ? body.timestamp : null
  const isOwnChange = userIdOf(user) !== '' && userIdOf(user) === context.state?.me
  if (isOwnChange) return false
  return applyTicketStatus(context, linked, found, { changedAt, by: editorIn(context, user) })
}

/** The issue linked to a ticket. If the ticket was moved to another project, its key is new but its id is unchanged. */
function linkedTo(context: JiraInbound, { id, key }: FoundTicket): LinkedTicket | null {
  if (key === '') return null
  const byId = () => (id === '' ? undefined : context.issues(MAX_SEARCHED).find(({ memory }) => memory.id === id))
  return context.issueByTicket(key) ?? byId() ?? null
}

/** Id of the member with the Jira user's e-mail address. Null if there is no such member or Jira hides the address. */
function editorIn(context: JiraInbound, user: unknown): string | null {
  const { emailAddress } = fieldsIn(user)
  return typeof emailAddress === 'string' ? (context.editorOf(emailAddress)?.userId ?? null) : null
}

/**
 * Applies a ticket's status to its issue if the ticket's category changed since it was last updated. Otherwise, an
 * issue status that is not yet synchronized to Jira would be undone. Returns true if the issue changed.
 */
export async function applyTicketStatus(
  context: JiraInbound,
  linked: LinkedTicket,
  { key, status: { category } }: FoundTicket,
  { changedAt, by }: { changedAt: Instant | null; by: string | null },
): Promise<boolean> {
  const { memory } = linked
  // Calls can arrive late and out of order.
  if (category === null || (changedAt !== null && changedAt < memory.changedAt)) return false
  const update = { key, category, isGone: false, changedAt: changedAt ?? memory.changedAt }
  const hasChanged = memory.category !== null && memory.category !== category
  const isApplied = hasChanged && setIssueStatus(context, linked, STATUS_OF[category], by)
  await updateLinkedTicket(context, linked, { ...update, ...(isApplied ? { given: STATUS_OF[category] } : {}) })
  return isApplied
}

function setIssueStatus(
  context: JiraInbound,
  { issueId, status, target }: LinkedTicket,
  to: IssueStatus,
  by: string | null,
): boolean {
  // Jira has no equivalent of `muted`, so a muted issue can only be resolved by its ticket.
  if (status === 'muted' && to !== 'resolved') return false
  const isReopened = status === 'resolved' && to === 'acknowledged'
  if (isReopened && !context.setStatus(issueId, 'open', by, target)) return false
  return context.setStatus(issueId, to, by, target)
}

/** Updates part of a linked ticket's memory. */
export const updateLinkedTicket = (
  context: JiraInbound,
  { issueId, memory, target }: LinkedTicket,
  part: Partial<Ticket>,
) => context.remember(issueId, { ...memory, ...part }, { target, ...(part.key ? { ticketKey: part.key } : {}) })
