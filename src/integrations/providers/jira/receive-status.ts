import type { Instant } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import type { InboundCall } from '../provider.ts'
import type { LinkedIssue } from '../provider-context.ts'
import { fieldsIn, type JiraInbound, userIdOf } from './jira-client.ts'
import type { Category, Ticket } from './jira-state.ts'
import { type FoundTicket, ticketIn } from './search-tickets.ts'

export type LinkedTicket = LinkedIssue<Ticket>

const STATUS_OF: Record<Category, IssueStatus> = { new: 'open', indeterminate: 'acknowledged', done: 'resolved' }

/** Number of issues searched for a ticket that was moved to another project. */
const MAX_SEARCHED = 1000

/** Handles a webhook call about a ticket. Returns true if it changed anything in Tagwarden. */
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

/** The issue linked to a ticket. A ticket moved to another project has a new key but the same id. */
function linkedTo(context: JiraInbound, { id, key }: FoundTicket): LinkedTicket | null {
  if (key === '') return null
  const byId = () => (id === '' ? undefined : context.issues(MAX_SEARCHED).find(({ memory }) => memory.id === id))
  return context.issueByTicket(key) ?? byId() ?? null
}

/** Id of the member with the user's e-mail address. Null if there is none or Jira hides the address. */
function editorIn(context: JiraInbound, user: unknown): string | null {
  const { emailAddress } = fieldsIn(user)
  return typeof emailAddress === 'string' ? (context.editorOf(emailAddress)?.userId ?? null) : null
}

/**
 * Applies a ticket's status to its issue if the ticket's category changed since it was last update, so that an issue status not
 * yet synchronized to Jira is not undone. Returns true if the issue changed.
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
  // Jira has no equivalent of muted, so only a resolution is applied to a muted issue.
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
