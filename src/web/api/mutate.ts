import type { QueryKey } from '@tanstack/react-query'
import { notices } from '../shell/notices.ts'
import { errorMessage } from './api-error.ts'
import { queries } from './queries.ts'

/** How answers on screen look once the server has done what was asked. */
export interface CacheUpdate {
  /** Which answers: all whose key begins so, as `[{_id: 'listIssues'}]` does. */
  queryKey: QueryKey
  /** Returns the changed answer; the same object when nothing of it changes. */
  // biome-ignore lint/suspicious/noExplicitAny: each question has an answer of its own; the caller names its type
  update(answer: any): unknown
}

/** Something that a person does. */
export interface Mutation<Answer> {
  /** Asks the server; throws a `ApiError`. */
  send(): Promise<Answer>
  /** What is on screen before the server answered, and taken back when it refuses. */
  optimistic?: readonly CacheUpdate[]
  /** Questions whose answers this changes too; all of `changes` are asked again anyway. */
  invalidates?: readonly QueryKey[]
  /** Says what was done; null for nothing. */
  message?: string | ((answer: Answer) => string | null)
  /** Takes it back, within ten seconds. */
  undo?: (answer: Answer) => void
  /** What to do with a refusal instead of showing its sentence with a button Retry, as at the field that it is about. */
  onRefused?: (error: unknown) => void
}

let underWay = 0
const due = new Map<string, QueryKey>()

/** Does it. Returns the server's answer, or undefined when it refused, which is told already. */
export async function mutate<Answer>(given: Mutation<Answer>): Promise<Answer | undefined> {
  const {
    send,
    optimistic: changes = [],
    invalidates: asksAgain = [],
    message: say = null,
    undo,
    onRefused: refused,
  } = given
  underWay++
  for (const key of [...changes.map(({ queryKey: of }) => of), ...asksAgain]) due.set(JSON.stringify(key), key)
  const begun = undo && notices.begin()
  const takeBack = await show(changes)
  try {
    const answer = await send()
    const text = typeof say === 'function' ? say(answer) : say
    begun?.end()
    if (begun?.isUndone()) undo?.(answer)
    else if (text !== null) notices.say(text, undo ? () => undo(answer) : null)
    return answer
  } catch (error) {
    begun?.end()
    takeBack()
    if (refused) refused(error)
    else notices.refuse(errorMessage(error), () => void mutate(given))
    return undefined
  } finally {
    underWay--
    if (underWay === 0) askDue()
  }
}

/** Changes the answers on screen. Returns what puts those before in their place. */
async function show(changes: readonly CacheUpdate[]): Promise<() => void> {
  // An answer that was asked for before would put the old state back.
  const stopped = changes.map(({ queryKey: of }) => queries.cancelQueries({ queryKey: of }))
  const before = changes.flatMap(({ queryKey: of }) => queries.getQueriesData({ queryKey: of }))
  for (const { queryKey: of, update: to } of changes) {
    queries.setQueriesData({ queryKey: of }, (answer: unknown) => (answer === undefined ? undefined : to(answer)))
  }
  await Promise.all(stopped)
  return () => {
    for (const [key, answer] of before) queries.setQueryData(key, answer)
  }
}

// Only once nothing is under way: an answer from between two acts would show the second as not done.
function askDue(): void {
  for (const queryKey of due.values()) void queries.invalidateQueries({ queryKey })
  due.clear()
}
