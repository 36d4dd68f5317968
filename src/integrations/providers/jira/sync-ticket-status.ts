import { messageOf } from '../../../core/error.ts'
import { DELIVERED, type Outcome } from '../../outcome.ts'
import type { StatusChange } from '../provider-context.ts'
import { addComment, isDeleted, keep } from './deliver-ticket.ts'
import { callJira, fetchOwnAccount, isCloud, type JiraIssue, statusIn as statusOfAnswer } from './jira-client.ts'
import { type Status, statusIn, statusOf } from './search-tickets.ts'
import { noteOf } from './ticket-text.ts'
import { GOALS, type Goal, nextStep, type Transition } from './workflow-path.ts'

/** One change is shown by so many transitions at most. */
const MAX_STEPS = 5

/** Brings the ticket into a status that says how its issue stands; a muted issue leaves its ticket as it is. */
export async function syncTicket(context: JiraIssue, { status }: StatusChange): Promise<Outcome> {
  const { memory } = context
  if (status === 'muted' || !memory?.key || memory.isGone) return DELIVERED
  await keep(context, { given: null })
  try {
    const failure = await move(context, memory.key, GOALS[status])
    if (failure !== null) {
      const text = `the issue is ${status} there, and this ticket could not be moved to such a status: ${failure}`
      await addComment(context, memory.key, noteOf(text, isCloud(context)))
    }
  } catch (error) {
    if (!(await isDeleted(context, memory.key, error))) throw error
    await keep(context, { isGone: true })
  }
  return DELIVERED
}

/** Null when it arrived, else why not. */
async function move(context: JiraIssue, key: string, goal: Goal): Promise<string | null> {
  // Calls from outside about what we do now must be known as ours.
  await fetchOwnAccount(context)
  const known = new Map<string, Transition[]>()
  let failure = `no transition leads there within ${MAX_STEPS} steps`
  let status = await statusOf(context, key)
  for (let left = MAX_STEPS; left > 0 && !goal.isReached(status.category); left--) {
    if (!known.has(status.id)) known.set(status.id, await offersOf(context, key, status))
    const offer = nextStep(known, status.id, goal, left)
    if (!offer) break
    await keep(context, { category: null })
    const refusal = await take(context, key, offer)
    if (refusal !== null) {
      failure = refusal
      known.set(status.id, known.get(status.id)?.filter((one) => one !== offer) ?? [])
    }
    status = await statusOf(context, key)
  }
  await keep(context, { category: status.category })
  return goal.isReached(status.category) ? null : failure
}

/** Null, or why Jira refused what it had offered: a condition of the workflow, or somebody else was faster. */
async function take(context: JiraIssue, key: string, { id, fields }: Transition): Promise<string | null> {
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

/** A transition as Jira returns it, with the fields of its screen. */
interface JiraTransition {
  id: string
  name: string
  to: unknown
  fields?: Record<string, Field>
}

const MAX_OFFERS = 200
/** No form has more. */
const MAX_FIELDS = 500

/** The transitions that can be taken from a status. */
async function offersOf(context: JiraIssue, key: string, from: Status): Promise<Transition[]> {
  const path = `/issue/${encodeURIComponent(key)}/transitions?expand=transitions.fields`
  const { transitions = [] } = await callJira<{ transitions?: JiraTransition[] }>(context, 'GET', path)
  return transitions.slice(0, MAX_OFFERS).flatMap(({ id, name, to, fields = {} }) => {
    const target = statusIn(to)
    const isReopening = from.category === 'done' && target.category !== 'done'
    const values = valuesFor(fields, isReopening)
    return values ? [{ id: String(id), name: String(name), to: target, fields: values }] : []
  })
}

/** Values for the fields of a transition that have to be filled; null when one can't be. */
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

/** The first value that is allowed; for a line of text our name. Undefined when there is none. */
function firstValue({ allowedValues, schema }: Field): unknown {
  const [first] = allowedValues ?? []
  if (first === undefined)
    return schema?.type === 'string' && !schema.custom?.includes('textarea') ? 'Tagwarden' : undefined
  const { id } = { ...(first as object) } as Record<string, unknown>
  const value = id === undefined ? first : { id }
  return schema?.type === 'array' ? [value] : value
}
