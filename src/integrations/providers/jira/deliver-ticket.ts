import { type Instant, SECOND_MS } from '../../../core/clock.ts'
import { AppError, messageOf } from '../../../core/error.ts'
import type { Message, MessageKind } from '../../message/message.ts'
import { DELIVERED, type Outcome } from '../../outcome.ts'
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

/** How long a request may go on there after nobody waits for its answer any more. */
const UNDER_WAY_MS = 30 * SECOND_MS
/** How far behind Jira's search may be. */
const SEARCH_LAG_MS = 30 * SECOND_MS
const LOOK_AGAIN_MS = 5 * SECOND_MS

const KNOWN: Outcome = { verdict: 'delivered', note: 'it came from the ticket' }
const DELETED: Outcome = { verdict: 'delivered', note: 'somebody deleted the ticket in Jira' }

/** Changes a part of what is remembered, whatever else changed meanwhile. */
export const keep = (context: JiraIssue, part: Partial<Ticket>, ticketKey?: string): Promise<void> =>
  context.remember({ ...NO_TICKET, ...context.memory, ...part }, ticketKey)

/** Makes the ticket of an issue, or comments on it. */
export async function deliverTicket(context: JiraDelivery, message: Message): Promise<Outcome> {
  const { memory } = context
  const begins = message.kind === 'opened' || message.kind === 'reopened'
  if (memory?.isGone && !begins) return DELETED
  if (!memory?.key || memory.isGone) return makeTicket(context, message)
  if (message.kind === 'opened') return DELIVERED
  if (cameFromThere(message.kind, memory)) return KNOWN
  try {
    await comment(context, memory.key, message)
    return DELIVERED
  } catch (error) {
    if (!(await isDeleted(context, memory.key, error))) throw error
    await keep(context, { isGone: true })
    return begins ? makeTicket(context, message) : DELETED
  }
}

/** True for the notice of a status that somebody gave the ticket. */
function cameFromThere(kind: MessageKind, { given }: Ticket): boolean {
  if (kind === 'reopened') return given === 'open' || given === 'acknowledged'
  return kind === 'resolved' && given === 'resolved'
}

/** Makes it once, whatever answer is lost: it is looked for before, and again and again after an answer that was lost. */
async function makeTicket(context: JiraIssue, message: Message): Promise<Outcome> {
  const { issue } = message
  if (!issue) return { verdict: 'broken', reason: 'a ticket is about an issue' }
  const project = context.detail ?? context.settings.project
  const label = `tagwarden-${issue.id}`
  const found = await findTicket(context, project, label)
  if (found) {
    await link(context, found, found.status.category)
    return DELIVERED
  }
  if (message.kind === 'resolved') return { verdict: 'delivered', note: 'there is no ticket to resolve' }
  const left = (context.memory?.until ?? 0) - context.now()
  // A time that is further away is from before the clock was put back.
  if (left > 0 && left <= UNDER_WAY_MS + SEARCH_LAG_MS) {
    return { verdict: 'wait', waitMs: Math.min(left, LOOK_AGAIN_MS), onlyThis: true }
  }
  await keep(context, { until: context.now() + UNDER_WAY_MS + SEARCH_LAG_MS })
  const made = await create(context, fieldsOf(context, message, { project, label }))
  await link(context, made, null)
  // Workflows may begin with a status that is under way; a ticket that was made a moment ago is there whatever this says.
  const status = await statusOf(context, made.key).catch(() => null)
  await keep(context, { category: status?.category ?? 'new' })
  if (context.state?.me === undefined) await fetchOwnAccount(context).catch(() => null)
  return DELIVERED
}

/** The oldest ticket with the label: copies of a ticket have its labels too. Null when the search knows none. */
async function findTicket(context: JiraIssue, project: string, label: string): Promise<FoundTicket | null> {
  const jql = `project = ${quoted(project)} AND labels = ${quoted(label)} ORDER BY created ASC`
  for (const found of await searchTickets(context, jql)) {
    if (await isThere(context, found.key)) return found
  }
  return null
}

/** False for one that was deleted, which the search does not know yet. */
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
    if (typeof key !== 'string') throw new AppError('upstream', 'Jira did not say which ticket it made')
    return { id: String(id ?? ''), key }
  } catch (error) {
    const status = statusIn(error)
    await keep(context, { until: untilAfter(status, context.now()) })
    // It succeeded, and somebody in between spoiled the answer.
    if (status !== null && status < 300) throw new AppError('upstream', messageOf(error))
    throw error
  }
}

/** Until when a ticket may be found that was asked for with this end; null: none was made. */
function untilAfter(status: number | null, now: Instant): Instant | null {
  if (status === null) return now + UNDER_WAY_MS + SEARCH_LAG_MS
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
  keep(context, { ...NO_TICKET, id, key, category }, key)

/** Once for a delivery, whatever answer is lost. */
async function comment(context: JiraDelivery, key: string, message: Message): Promise<void> {
  const { deliveryId, memory } = context
  const body = bodyOf(message, isCloud(context))
  const mayStand = memory?.comment === deliveryId
  if (!mayStand || !(await stands(context, key, body))) {
    await keep(context, { comment: deliveryId })
    await addComment(context, key, body)
  }
  await keep(context, { comment: null })
}

export const addComment = (context: JiraIssue, key: string, body: Body): Promise<object> =>
  callJira(context, 'POST', `/issue/${encodeURIComponent(key)}/comment`, { body })

const LATEST_COMMENTS = 50

/** True when one of the latest comments has this text. */
async function stands(context: JiraIssue, key: string, body: Body): Promise<boolean> {
  const path = `/issue/${encodeURIComponent(key)}/comment?orderBy=-created&maxResults=${LATEST_COMMENTS}`
  const { comments = [] } = await callJira<{ comments?: { body: Body }[] }>(context, 'GET', path)
  const wanted = plainOf(body)
  return comments.slice(0, LATEST_COMMENTS).some((one) => plainOf(one.body) === wanted)
}

/** True when somebody deleted it. */
export async function isGone(context: JiraContext, key: string): Promise<boolean> {
  try {
    await statusOf(context, key)
    return false
  } catch (error) {
    return isDeleted(context, key, error)
  }
}

/** True when Jira knows no such ticket, although we see its project: without rights there we would see neither. */
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
