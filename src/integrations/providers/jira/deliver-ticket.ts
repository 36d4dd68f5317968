import { type Instant, SECOND_MS } from '../../../core/clock.ts'
import { AppError, messageOf } from '../../../core/error.ts'
import { DELIVERED, type Outcome } from '../../delivery-outcome.ts'
import type { Message, MessageKind } from '../../message/message.ts'
import {
  callJira,
  fetchOwnAccount,
  isCloud,
  isMissing,
  type JiraContext,
  type JiraDelivery,
  type JiraIssue,
  statusIn,
} from './jira-client.ts'
import { type Category, NO_TICKET, type Ticket } from './jira-state.ts'
import { type FoundTicket, quoted, searchTickets, statusOf } from './search-tickets.ts'
import { type Body, bodyOf, plainOf, summaryOf } from './ticket-text.ts'

/** Maximum time for which Jira may continue to process a request after the connection was closed. */
const MAX_REQUEST_MS = 30 * SECOND_MS
/** Maximum expected delay of Jira's search index. */
const SEARCH_LAG_MS = 30 * SECOND_MS
const SEARCH_RETRY_MS = 5 * SECOND_MS

const FROM_TICKET: Outcome = { verdict: 'delivered', note: 'the change was made in the ticket' }
const DELETED: Outcome = { verdict: 'delivered', note: 'the ticket was deleted in Jira' }

/** Updates part of the ticket's memory and preserves concurrent changes to the other parts. */
export const updateTicket = (context: JiraIssue, part: Partial<Ticket>, ticketKey?: string): Promise<void> =>
  context.remember({ ...NO_TICKET, ...context.memory, ...part }, ticketKey)

/** Creates the ticket for an issue, or adds a comment to the existing ticket. */
export async function deliverTicket(context: JiraDelivery, message: Message): Promise<Outcome> {
  const { memory } = context
  // An escalation must reach somebody, so that a deleted ticket is replaced.
  const isOpening = message.kind === 'opened' || message.kind === 'reopened' || message.escalation !== undefined
  if (memory?.isGone && !isOpening) return DELETED
  if (!memory?.key || memory.isGone) return createTicket(context, message)
  if (message.kind === 'opened') return DELIVERED
  if (isFromTicket(message.kind, memory)) return FROM_TICKET
  try {
    await comment(context, memory.key, message)
    return DELIVERED
  } catch (error) {
    if (!(await isDeleted(context, memory.key, error))) throw error
    await updateTicket(context, { isGone: true })
    return isOpening ? createTicket(context, message) : DELETED
  }
}

/** True if the message reports a status that came from the ticket. */
function isFromTicket(kind: MessageKind, { given }: Ticket): boolean {
  if (kind === 'reopened') return given === 'open' || given === 'acknowledged'
  return kind === 'resolved' && given === 'resolved'
}

/**
 * Creates a ticket exactly once. Searches for an existing ticket first. After a lost response, keeps searching for a
 * while before creating another.
 */
async function createTicket(context: JiraIssue, message: Message): Promise<Outcome> {
  const { issue } = message
  if (!issue) return { verdict: 'broken', reason: 'a ticket requires an issue' }
  const project = context.detail ?? context.settings.project
  const label = `tagwarden-${issue.id}`
  const found = await findTicket(context, project, label)
  if (found) {
    await link(context, found, found.status.category)
    return DELIVERED
  }
  if (message.kind === 'resolved') return { verdict: 'delivered', note: 'there is no ticket to resolve' }
  const left = (context.memory?.until ?? 0) - context.now()
  // A larger value means that the clock was set back.
  if (left > 0 && left <= MAX_REQUEST_MS + SEARCH_LAG_MS) {
    return { verdict: 'wait', waitMs: Math.min(left, SEARCH_RETRY_MS), onlyThis: true }
  }
  await updateTicket(context, { until: context.now() + MAX_REQUEST_MS + SEARCH_LAG_MS })
  const created = await create(context, fieldsOf(context, message, { project, label }))
  await link(context, created, null)
  // Read from Jira because a workflow can start in progress. The ticket exists even if this lookup fails.
  const status = await statusOf(context, created.key).catch(() => null)
  await updateTicket(context, { category: status?.category ?? 'new' })
  if (context.state?.me === undefined) await fetchOwnAccount(context).catch(() => null)
  return DELIVERED
}

/**
 * Returns the oldest existing ticket with the label, or null. The oldest is the original, because copies of a ticket
 * have the same labels.
 */
async function findTicket(context: JiraIssue, project: string, label: string): Promise<FoundTicket | null> {
  const jql = `project = ${quoted(project)} AND labels = ${quoted(label)} ORDER BY created ASC`
  for (const found of await searchTickets(context, jql)) {
    if (await isThere(context, found.key)) return found
  }
  return null
}

/** True if the ticket exists. False if it was deleted but is still in the search index. */
async function isThere(context: JiraIssue, key: string): Promise<boolean> {
  try {
    await statusOf(context, key)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

async function create(context: JiraIssue, fields: object): Promise<Pick<FoundTicket, 'id' | 'key'>> {
  try {
    const { id, key } = await callJira<{ id?: unknown; key?: unknown }>(context, 'POST', '/issue', { fields })
    if (typeof key !== 'string') throw new AppError('upstream', 'Jira returned no key for the new ticket')
    return { id: String(id ?? ''), key }
  } catch (error) {
    const status = statusIn(error)
    await updateTicket(context, { until: untilAfter(status, context.now()) })
    // The call succeeded, but a proxy corrupted the response.
    if (status !== null && status < 300) throw new AppError('upstream', messageOf(error))
    throw error
  }
}

/**
 * Time until which a ticket from a failed create request may still appear in the search. Null if no ticket was created.
 */
function untilAfter(status: number | null, now: Instant): Instant | null {
  if (status === null) return now + MAX_REQUEST_MS + SEARCH_LAG_MS
  const isRefused = status >= 300 && status < 500 && status !== 408
  return isRefused ? null : now + SEARCH_LAG_MS
}

function fieldsOf(
  context: JiraIssue,
  message: Message,
  { project, label }: { project: string; label: string },
): object {
  const { issueType, fields = {} } = context.settings
  const labels = Array.isArray(fields.labels) ? fields.labels : []
  return {
    ...fields,
    project: { key: project },
    issuetype: { name: issueType },
    summary: summaryOf(message),
    description: bodyOf(message, isCloud(context)),
    labels: [...labels, label],
  }
}

const link = (context: JiraIssue, { id, key }: Pick<FoundTicket, 'id' | 'key'>, category: Category | null) =>
  updateTicket(context, { ...NO_TICKET, id, key, category }, key)

/** Adds a comment exactly once per delivery, even if a response is lost. */
async function comment(context: JiraDelivery, key: string, message: Message): Promise<void> {
  const { deliveryId, memory } = context
  const body = bodyOf(message, isCloud(context))
  const mayExist = memory?.comment === deliveryId
  if (!mayExist || !(await hasComment(context, key, body))) {
    await updateTicket(context, { comment: deliveryId })
    await addComment(context, key, body)
  }
  await updateTicket(context, { comment: null })
}

export const addComment = (context: JiraIssue, key: string, body: Body): Promise<object> =>
  callJira(context, 'POST', `/issue/${encodeURIComponent(key)}/comment`, { body })

const LATEST_COMMENTS = 50

/** True if one of the most recent comments has the same text. */
async function hasComment(context: JiraIssue, key: string, body: Body): Promise<boolean> {
  const path = `/issue/${encodeURIComponent(key)}/comment?orderBy=-created&maxResults=${LATEST_COMMENTS}`
  const { comments = [] } = await callJira<{ comments?: { body: Body }[] }>(context, 'GET', path)
  const expected = plainOf(body)
  return comments.slice(0, LATEST_COMMENTS).some((one) => plainOf(one.body) === expected)
}

/** True if the ticket was deleted. */
export async function isGone(context: JiraContext, key: string): Promise<boolean> {
  try {
    await statusOf(context, key)
    return false
  } catch (error) {
    return isDeleted(context, key, error)
  }
}

/**
 * True if a ticket returns 404 although its project is visible. If the project is hidden too, the account lacks
 * permission.
 */
export async function isDeleted(context: JiraContext, key: string, error: unknown): Promise<boolean> {
  if (!isMissing(error)) return false
  const project = key.slice(0, key.lastIndexOf('-'))
  try {
    await callJira(context, 'GET', `/project/${encodeURIComponent(project)}`)
    return true
  } catch (refusal) {
    if (isMissing(refusal)) return false
    throw refusal
  }
}
