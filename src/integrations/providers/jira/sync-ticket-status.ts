import { messageOf } from '../../../core/error.ts'
import { DELIVERED, type Outcome } from '../../delivery-outcome.ts'
import type { StatusChange } from '../provider-context.ts'
import { addComment, isDeleted, updateTicket } from './deliver-ticket.ts'
import { callJira, fetchOwnAccount, isCloud, type JiraIssue, statusIn as statusOfAnswer } from './jira-client.ts'
import { type Status, statusIn, statusOf } from './search-tickets.ts'
import { noteOf } from './ticket-text.ts'
import { GOALS, type Goal, nextStep, type Transition } from './workflow-path.ts'

/** Maximum number of workflow transitions for a single status change. */
const MAX_STEPS = 5

/** Moves the ticket to a status that matches its issue. If the issue is muted, the ticket is unchanged. */
export async function syncTicket(context: JiraIssue, { status }: StatusChange): Promise<Outcome> {
  const { memory } = context
  if (status === 'muted' || !memory?.key || memory.isGone) return DELIVERED
  await updateTicket(context, { given: null })
  try {
    const failure = await move(context, memory.key, GOALS[status])
    if (failure !== null) {
      const text = `The issue is ${status}, but this ticket could not be moved to a matching status: ${failure}`
      await addComment(context, memory.key, noteOf(text, isCloud(context)))
    }
  } catch (error) {
    if (!(await isDeleted(context, memory.key, error))) throw error
    await updateTicket(context, { isGone: true })
  }
  return DELIVERED
}

/** Moves a ticket to the goal. Returns null on success, otherwise the reason for the failure. */
async function move(context: JiraIssue, key: string, goal: Goal): Promise<string | null> {
  // Required to recognise webhook calls about the changes made here.
  await fetchOwnAccount(context)
  const known = new Map<string, Transition[]>()
  let failure = `no such status can be reached within ${MAX_STEPS} transitions`
  let status = await statusOf(context, key)
  for (let left = MAX_STEPS; left > 0 && !goal.isReached(status.category); left--) {
    if (!known.has(status.id)) known.set(status.id, await transitionsOf(context, key, status))
    const transition = nextStep(known, status.id, goal, left)
    if (!transition) break
    await updateTicket(context, { category: null })
    const refusal = await applyTransition(context, key, transition)
    if (refusal !== null) {
      failure = refusal
      known.set(status.id, known.get(status.id)?.filter((one) => one !== transition) ?? [])
    }
    status = await statusOf(context, key)
  }
  await updateTicket(context, { category: status.category })
  return goal.isReached(status.category) ? null : failure
}

/**
 * Applies a transition. Returns null on success, or the reason if Jira rejects it because of a condition or a
 * concurrent change.
 */
async function applyTransition(context: JiraIssue, key: string, { id, fields }: Transition): Promise<string | null> {
  const filled = Object.keys(fields).length > 0 ? { fields } : {}
  try {
    await callJira(context, 'POST', `/issue/${encodeURIComponent(key)}/transitions`, { transition: { id }, ...filled })
    return null
  } catch (error) {
    const status = statusOfAnswer(error)
    if (status === 400 || status === 409) return messageOf(error)
    throw error
  }
}

interface Field {
  required?: boolean
  hasDefaultValue?: boolean
  schema?: { type?: string; custom?: string }
  allowedValues?: unknown[]
}

/** A transition as returned by Jira, with the fields of its screen. */
interface JiraTransition {
  id: string
  name: string
  to: unknown
  fields?: Record<string, Field>
}

const MAX_TRANSITIONS = 200
/** Maximum number of fields of a transition. Transitions with more fields are ignored. */
const MAX_FIELDS = 500

/** The transitions that are available from a status and whose required fields can be filled. */
async function transitionsOf(context: JiraIssue, key: string, from: Status): Promise<Transition[]> {
  const path = `/issue/${encodeURIComponent(key)}/transitions?expand=transitions.fields`
  const { transitions = [] } = await callJira<{ transitions?: JiraTransition[] }>(context, 'GET', path)
  return transitions.slice(0, MAX_TRANSITIONS).flatMap(({ id, name, to, fields = {} }) => {
    const target = statusIn(to)
    const isReopening = from.category === 'done' && target.category !== 'done'
    const values = valuesFor(fields, isReopening)
    return values ? [{ id: String(id), name: String(name), to: target, fields: values }] : []
  })
}

/** Values for the required fields of a transition. Null if a field can't be filled. */
function valuesFor(fields: Record<string, Field>, isReopening: boolean): Record<string, unknown> | null {
  const values: Record<string, unknown> = {}
  const entries = Object.entries(fields)
  if (entries.length > MAX_FIELDS) return null
  for (const [name, field] of entries) {
    if (name === 'resolution' && isReopening && !field.required) values[name] = null
    if (!field.required || field.hasDefaultValue) continue
    const value = firstValue(field)
    if (value === undefined) return null
    values[name] = value
  }
  return values
}

/** The first allowed value, or `Tagwarden` for a single-line text field. Undefined if there is no value. */
function firstValue({ allowedValues, schema }: Field): unknown {
  const [first] = allowedValues ?? []
  if (first === undefined)
    return schema?.type === 'string' && !schema.custom?.includes('textarea') ? 'Tagwarden' : undefined
  const { id } = { ...(first as object) } as Record<string, unknown>
  const value = id === undefined ? first : { id }
  return schema?.type === 'array' ? [value] : value
}
